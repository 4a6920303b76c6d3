"""What the failure of a request means, in words that hold no credentials.

What the network library says may quote URLs, headers and errors of a provider of credentials, so
only a status and names of kinds are passed on.
"""

import re

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,40})</Code>")  # in the answers of S3, Google and Azure
_EXPIRED = ("ExpiredToken", "TokenRefreshRequired", "RequestExpired")
_NO_PLACE = ("NoSuchBucket", "ContainerNotFound")
_KIND = re.compile(r"kind: (Timeout|Connect|Interrupted|Decode)")
_KINDS = {
    "Timeout": "it does not answer in time",
    "Connect": "no connection can be made",
    "Interrupted": "the connection was cut",
    "Decode": "the answer cannot be read",
}
_CERTIFICATE = re.compile(r"InvalidCertificate\([\s()]*(?:Other\w*[\s()]*)*(\w+)")
_HEADER = re.compile(r"(\S+) Header missing from response")
_NAME = re.compile(r'[Pp]ath "([^"\n]{1,300})"')
NO_PARTS = (
    "Serve the folder with nginx, Apache or an object store (`python -m http.server` serves no "
    "parts of files), or copy it to this machine and open the copy."
)
_RAISED = re.compile(r"source: PyErr \{\s*type: <class '([\w.]+)'>")


class Failure(Exception):
    """A request failed, and will fail again; says why."""


class Missing(Failure):
    """There is no such object."""


class NoPlace(Failure):
    """There is no such bucket or container."""


class Replaced(Failure):
    """The object is another one than was expected."""


class NotPartial(Failure):
    """The store answers that it cannot serve what was asked for, such as a part of an object."""


class Refused(Failure):
    """The credentials are not good for it."""


class Passing(Failure):
    def __init__(
        self,
        what: str,
        advice: str = "Is the store there, and can this machine reach it?",
        *,
        is_throttle: bool = False,
        is_answer: bool = False,
    ) -> None:
        super().__init__(what)
        self.advice = advice  # if it does not pass
        self.is_throttle = is_throttle
        self.is_answer = is_answer  # wrong, which seldom passes


def meaning(error: Exception) -> Failure:
    from obstore import exceptions  # not to be loaded for the names above

    said = str(error)
    code = found[1] if (found := _CODE.search(said)) else ""
    if isinstance(error, FileNotFoundError):
        return _missing(code)
    if isinstance(error, exceptions.PreconditionError):
        return Replaced()
    if isinstance(error, exceptions.InvalidPathError):
        found = _NAME.search(said)
        named = f" ({found[1]!r})" if found else ""
        return Failure(
            f"it holds an object whose name no file can have{named}: a part of it is empty, `.`, "
            "`..` or holds a control character. Rename it."
        )
    if isinstance(error, exceptions.NotSupportedError) or "non-partial response" in said:
        what = "the server does not support range requests: it sends the whole file for a part"
        return Passing(what, NO_PARTS, is_answer=True)
    if raised := _RAISED.search(said):
        return Passing(
            f"credential_provider= gives no credentials: it raises {raised[1]}",
            "Call it by itself, to see why.",
        )
    if status := _STATUS.search(said):
        return _of_status(int(status[1]), code)
    if isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
        return _refused("no credentials can be had")
    if not isinstance(error, exceptions.BaseError):
        return Failure(f"the request cannot be made ({type(error).__name__}).")
    return _of_connection(said)


def _missing(code: str) -> Failure:
    return NoPlace() if code in _NO_PLACE else Missing()


def _of_status(status: int, code: str) -> Failure:
    told = f"status {status}" + f", {code}" * bool(code)
    if status == 404:
        return _missing(code)
    if status == 412:
        return Replaced()
    if status in (416, 501):
        return NotPartial(f"the store answers with {told}.")
    if status in (401, 403) or code in _EXPIRED:
        return _refused(told)
    if status in (429, 503):
        return Passing(told, is_throttle=True)
    if status >= 500 or status == 408:
        return Passing(told)
    advice = ""
    if status in (301, 307, 400):
        advice = ' Is its region another one? storage_options={"region": ...} says it.'
    return Failure(f"the store answers with {told}.{advice}")


def _refused(told: str) -> Refused:
    return Refused(
        f"the store refuses it ({told}): there are no credentials for it, or they have expired. "
        "Give storage_options= or credential_provider=, or set them in the environment."
    )


def _of_connection(said: str) -> Failure:
    if wrong := _CERTIFICATE.search(said):
        return Failure(
            f"its certificate is not accepted ({wrong[1]}). If its authority is one of your own, "
            "let the environment's SSL_CERT_FILE name a file with that authority's certificate."
        )
    if "dns error" in said:
        return Passing("its name does not resolve")
    if lacking := _HEADER.search(said):
        return Failure(f"the server sends no {lacking[1]}, which a store has to tell.")
    if "UnexpectedRange" in said:
        return Passing("the server gives less than the part that is asked for", is_answer=True)
    kind = _KIND.search(said)
    return Passing(_KINDS[kind[1]] if kind else "the request failed")
