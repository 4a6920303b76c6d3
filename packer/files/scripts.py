"""The encoding that a text of another script than Latin is likely in (pure).

Bytes mean something in each of them. What decides is how much of it is common there: kana and the
first level of kanji, the first level of hanzi, Hangul, and letters that are small within words.
"""

import re
from collections.abc import Callable

_LEAST = 0.6  # of the signs are common ones
_ALIKE = 0.02  # between shares that decide nothing
_RARER = {"BIG5": 0.95, "CP1253": 0.85}  # what encodings count in which others make sense, too
_FEW = 5  # signs, which may be Hangul by chance
_COMMON = frozenset("оеаинтсрвлαοιετσνηυρά")  # letters
_KANA = re.compile("[\u3041-\u30fc]")

Share = Callable[[str, str], float]  # of the common signs in a text of other signs than ASCII


def _pairs(*leads: tuple[int, int], least: int = 0xA1, needs_kana: bool = False) -> Share:
    """Return the share of the signs of two bytes whose first is in one of the spans `leads`."""

    def share(text: str, codec: str) -> float:
        if needs_kana and not _KANA.search(text):
            return 0.0
        signs = [sign.encode(codec) for sign in text]
        common = [
            len(sign) == 2 and sign[1] >= least and any(a <= sign[0] <= b for a, b in leads)
            for sign in signs
        ]
        return sum(common) / len(signs)

    return share


def _letters(text: str, codec: str) -> float:
    """Return the share of letters in words of one case, the first one aside; common ones count."""
    words = re.findall(r"[^\W\d_]+", text)
    fitting = [word for word in words if word[1:] in (word[1:].lower(), word[1:].upper())]
    letters = "".join(fitting).lower()
    common = sum(letter in _COMMON for letter in letters)
    return (len(letters) + common) / (2 * len(text.replace(" ", "")))


_SHARES: dict[str, Share] = {  # by iconv's names
    "CP932": _pairs((0x82, 0x83), (0x88, 0x97), least=0x40),  # Shift JIS
    "EUC-JP": _pairs((0xA4, 0xA5), (0xB0, 0xCF), needs_kana=True),
    "CP949": _pairs((0xB0, 0xC8)),
    "GB18030": _pairs((0xB0, 0xD7)),
    "BIG5": _pairs((0xA4, 0xC6), least=0x40),
    "CP1251": _letters,
    "KOI8-R": _letters,
    "CP866": _letters,
    "CP1253": _letters,
}


def likely_encodings(data: bytes) -> list[str]:
    """Return the encoding of a text by the name that iconv has for it; several if they fit alike.

    It is empty if none of those known fits.
    """
    shares: dict[str, float] = {}
    for name, share in _SHARES.items():
        try:
            text = re.sub(r"[\x00-\x7f]+", " ", data.decode(name)).strip()
        except UnicodeDecodeError:
            continue
        signs = text if share is _letters else text.replace(" ", "")
        shares[name] = share(signs, name) * _RARER.get(name, 1) if signs else 0.0
    if "CP949" in shares and len({*data.decode("CP949")} - {*map(chr, range(128))}) < _FEW:
        shares["CP949"] -= _ALIKE / 2
    best = max(shares.values(), default=0.0)
    fits = [name for name, share in shares.items() if share >= max(_LEAST, best - _ALIKE)]
    return sorted(fits, key=lambda name: -shares[name])
