"""Explain a failed request in words without credentials.

The network library's messages may quote URLs, headers and errors of a credential provider, so only
a status and names of kinds are passed on.
"""

import re

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,40})</Code>")  # in the answers of S3, Google and Azure
_EXPIRED = ("ExpiredToken", "TokenRefreshRequired", "RequestExpired")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_KIND = re.compile(r"kind: (Timeout|Connect|Interrupted|Decode)")
_KINDS = {
    "Timeout": "the server does not answer in time",
    "Connect": "no connection to the server is possible",
    "Interrupted": "the connection was interrupted",
    "Decode": "the server's answer cannot be decoded",
}
_CERTIFICATE = re.compile(r"InvalidCertificate\([\s()]*(?:Other\w*[\s()]*)*(\w+)")
_HEADER = re.compile(r"(\S+) Header missing from response")
_NAME = re.compile(r'[Pp]ath "([^"\n]{1,300})"')
NO_PARTS = (
    "Serve the folder with nginx, Apache or an object store (`python -m http.server` does not "
    "support range requests), or copy it to this machine and open the copy."
)
_RAISED = re.compile(r"source: PyErr \{\s*type: <class '([\w.]+)'>")


class Failure(Exception):
    """A request failed permanently."""


class Missing(Failure):
    """The object does not exist."""


class NoBucket(Failure):
    """The bucket or container does not exist."""


class Replaced(Failure):
    """The object is not the expected version."""


class Exists(Failure):
    """The object that was to be created exists."""


class Unconditional(Failure):
    """The store cannot write on a condition."""


class NotPartial(Failure):
    """The store cannot serve a part of an object."""


class Refused(Failure):
    """The credentials are missing or not sufficient."""


class Passing(Failure):
    def __init__(
        self,
        what: str,
        advice: str = "Check the URL, and that this machine can reach the server.",
        *,
        is_throttle: bool = False,
        is_answer: bool = False,
    ) -> None:
        super().__init__(what)
        self.advice = advice  # if retries do not help
        self.is_throttle = is_throttle
        self.is_answer = is_answer  # a wrong answer, for which retries seldom help


def meaning(error: Exception) -> Failure:
    from obstore import exceptions  # the names above do not need it

    text = str(error)
    code = code_in(text)
    if isinstance(error, FileNotFoundError):
        return _missing(code)
    if isinstance(error, exceptions.PreconditionError):
        return Replaced()
    if isinstance(error, exceptions.AlreadyExistsError):
        return Exists()
    if isinstance(error, NotImplementedError):
        return Unconditional()
    if isinstance(error, exceptions.InvalidPathError):
        found = _NAME.search(text)
        named = f" ({found[1]!r})" if found else ""
        return Failure(
            f"it has an object with a name that is not valid for a file{named}: a part of the name "
            "is empty, `.`, `..` or has a control character. Rename the object."
        )
    if isinstance(error, exceptions.NotSupportedError) or "non-partial response" in text:
        what = "the server does not support range requests: it sends the whole file for a part"
        return Passing(what, NO_PARTS, is_answer=True)
    if raised := _RAISED.search(text):
        return Passing(
            f"credential_provider= raised {raised[1]}",
            "To see why, call it yourself.",
        )
    if status := _STATUS.search(text):
        return of_status(int(status[1]), code)
    if isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
        return _refused("no credentials were found")
    if not isinstance(error, exceptions.BaseError):
        return Failure(f"the request cannot be sent ({type(error).__name__}).")
    return _of_connection(text)


def _missing(code: str) -> Failure:
    return NoBucket() if code in _NO_BUCKET else Missing()


def code_in(text: str) -> str:
    return found[1] if (found := _CODE.search(text)) else ""


def of_status(status: int, code: str) -> Failure:
    answer = f"status {status}" + f", {code}" * bool(code)
    if status == 404:
        return _missing(code)
    if status == 412:
        return Replaced()
    if status in (416, 501):
        return NotPartial(f"the store answers with {answer}.")
    if status in (401, 403) or code in _EXPIRED:
        return _refused(answer)
    if status in (429, 503):
        return Passing(answer, is_throttle=True)
    if status >= 500 or status == 408:
        return Passing(answer)
    advice = ""
    if status in (301, 307, 400):
        advice = ' Check the region: storage_options={"region": ...}.'
    return Failure(f"the store answers with {answer}.{advice}")


def _refused(answer: str) -> Refused:
    return Refused(
        f"the store denies access ({answer}): credentials are missing, not sufficient or expired. "
        "Give storage_options= or credential_provider=, or set them in the environment."
    )


def _of_connection(text: str) -> Failure:
    if wrong := _CERTIFICATE.search(text):
        return Failure(
            f"its certificate is not accepted ({wrong[1]}). For your own certificate authority, "
            "set SSL_CERT_FILE in the environment to a file with the authority's certificate."
        )
    if "dns error" in text:
        return Passing("its host name does not resolve")
    if lacking := _HEADER.search(text):
        return Failure(f"the server sends no {lacking[1]} header, which is required.")
    if "UnexpectedRange" in text:
        return Passing("the server sends less than the requested part", is_answer=True)
    kind = _KIND.search(text)
    return Passing(_KINDS[kind[1]] if kind else "the request failed")
