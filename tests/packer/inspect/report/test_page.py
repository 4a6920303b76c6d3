"""The page: what strangers wrote stays text, and a browser shows it and fetches nothing."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from made_images import write_files
from packing import run_pack

from packer.inspect.report.report import Reported

Reporting = Callable[..., tuple[Reported, str]]
Shown = tuple[Reported, str]
Open = Callable[[Reported], Any]


class Elements(HTMLParser):
    """The names of all elements, and those of attributes that a browser runs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, without a network."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("there is no chromium with its chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(programs[0])
    folder = tmp_path_factory.mktemp("browser")
    for argument in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *("disable-dev-shm-usage", f"user-data-dir={folder}", "window-size=1200,900"),
        "proxy-server=127.0.0.1:9",  # where nobody answers
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(str(programs[1]), env={**os.environ, "HOME": str(folder)})
    driver = webdriver.Chrome(options, service)
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """`opened(report)`: the browser at the page, which has nothing to complain of in the end."""

    def load(made: Reported) -> Any:
        browser.get_log("performance")
        browser.get_log("browser")
        browser.get(Path(made.page).as_uri())
        return browser

    yield load
    assert [line["message"] for line in browser.get_log("browser")] == []
    events = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        and event["params"]["documentURL"].startswith("file")  # not the browser's own pages
    ]
    assert asked
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert len({url for url in asked if url.startswith("file")}) == 1


@pytest.fixture
def page(browser: Any, of_planted: Shown, opened: Open) -> Any:
    """The browser at the page of `planted`."""
    return opened(of_planted[0])


def visible(browser: Any, selector: str = "#gallery .card") -> list[Any]:
    return [card for card in browser.find_elements("css selector", selector) if card.is_displayed()]


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    chain = ActionChains(browser)
    for key in keys:
        chain.send_keys(key)
    chain.perform()


def test_markup_of_a_dataset_stays_text(of_hostile: Shown) -> None:
    _, page = of_hostile
    elements = Elements(page)
    assert elements.names.count("script") == 1
    assert elements.handlers == []
    assert page.count("document.title=&#39;hostile&#39;") >= 8  # classes, names and captions


@pytest.mark.usefixtures("undrawn")
def test_what_turns_the_direction_of_writing_is_shown_as_an_escape_and_copied_as_it_is(
    photograph: Callable[..., Any], tmp_path: Path, reported: Reporting
) -> None:
    turning = "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe"
    for at in range(2):
        folder = tmp_path / "images" / ("train", "val")[at] / (turning, "plain")[at]
        write_files(folder, {f"{turning}{at}.jpg": photograph(at)})
    run_pack(tmp_path / "images", tmp_path / "shards")
    _, page = reported(tmp_path / "shards")
    assert "has no sample in the split val and some in another: \\u202egnp.exe." in page
    without = re.sub('data-copy="[^"]*"', "", page)
    assert turning in page
    assert turning not in without


def test_a_browser_runs_nothing_of_datasets(of_hostile: Shown, opened: Open) -> None:
    page = opened(of_hostile[0])
    assert page.title.endswith("report on the dataset")
    assert len(page.find_elements("css selector", "img:not([src^='data:'])")) == 0
    texts = [quote.text for quote in page.find_elements("css selector", "#gallery blockquote")]
    assert any(text.startswith("\"'><script>document.title='hostile'</script>") for text in texts)


def test_filters_show_one_split_and_what_matches(page: Any) -> None:
    everything = len(visible(page))
    options = page.find_elements("css selector", "[name=split] option")
    [val] = [option for option in options if option.text.startswith("val")]
    val.click()
    shown = visible(page)
    assert 0 < len(shown) < everything
    assert {card.get_attribute("data-split") for card in shown} == {val.get_attribute("value")}
    page.find_element("css selector", "[name=split] option[value='']").click()
    page.find_element("name", "text").send_keys("UNIFORM")
    assert len(visible(page)) == 2
    assert page.find_element("id", "count").text == "2 match"


def test_where_nothing_matches_it_is_said_and_undone(page: Any) -> None:
    everything = len(visible(page))
    page.find_element("name", "class").send_keys("c")
    assert page.find_element("css selector", "[name=class] option:checked").text == "c (0)"
    assert visible(page) == []
    assert page.find_element("id", "count").text == "None match"
    page.find_element("id", "reset").send_keys("\ue007")
    assert len(visible(page)) == everything
    assert page.find_element("id", "count").text == "60 shown of 88"


def test_a_finding_is_reached_at_once_and_marked(page: Any) -> None:
    height = "return document.documentElement.scrollHeight"
    before = page.execute_script(height)
    page.find_elements("css selector", ".contents a")[-1].send_keys("\ue007")
    [target] = page.find_elements("css selector", ".finding:target")
    wait(lambda: 0 <= place(target)["y"] < 900)
    assert target.value_of_css_property("outline-style") == "solid"
    page.execute_script("scrollTo(0, 1e6)")
    wait(lambda: place(target)["y"] < 0)
    assert page.execute_script(height) == before  # nothing moves when it comes into sight


def place(element: Any) -> dict[str, float]:
    script = "return arguments[0].getBoundingClientRect().toJSON()"
    found: dict[str, float] = element.parent.execute_script(script, element)
    return found


def test_a_print_is_light_and_has_all_pictures_and_no_controls(page: Any) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    colour = page.find_element("tag name", "h1").value_of_css_property("color")
    controls = visible(page, "nav, .filters label, #more, #theme")
    pictures = visible(page, "img:not(.mask)")
    drawn = [page.execute_script("return arguments[0].naturalWidth", each) for each in pictures]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert colour == "rgba(27, 36, 48, 1)"
    assert controls == []
    assert len(drawn) > 60
    assert min(drawn) > 0


def test_a_box_says_where_it_is(page: Any) -> None:
    titles = page.find_elements("css selector", "[data-kind=boxes_outside] rect title")
    found = [title.get_attribute("textContent").strip() for title in titles]
    assert len(found) == 2
    beyond = "[ab], x 200, y 100, 200 . 90 pixels, outside by 80 on the right"
    assert all(re.fullmatch(beyond, title) for title in found)


def test_the_keys_of_a_finding_are_copied(page: Any) -> None:
    page.find_element("css selector", "[data-kind=leakage] .keys summary").send_keys("\ue007")
    button = page.find_element("css selector", "[data-kind=leakage] .keys button")
    listed = page.find_element("css selector", "[data-kind=leakage] .keys pre").text
    assert button.get_attribute("data-copy") == listed
    assert {"val2017/leak0", "val2017/leak1"} < set(listed.split("\n"))
    button.send_keys("\ue007")
    said = page.find_element("id", "said")
    wait(lambda: said.get_attribute("textContent") == "Copied 4 keys")


def test_more_samples_are_shown_when_asked_for(page: Any) -> None:
    assert len(visible(page)) == 60
    more = page.find_element("id", "more")
    page.execute_script("arguments[0].focus()", more)
    press(page, "\ue007")  # Enter
    assert len(visible(page)) == 88
    assert not more.is_displayed()
    assert page.switch_to.active_element.get_attribute("data-copy")  # goes on at the first new one


def test_boxes_can_be_hidden(page: Any) -> None:
    assert visible(page, "#gallery svg.boxes")
    page.find_element("name", "overlays").send_keys(" ")
    assert not visible(page, "#gallery svg.boxes")


def test_the_page_is_light_dark_or_as_the_system_by_the_keyboard(page: Any) -> None:
    colours = []
    for _ in range(3):
        page.find_element("id", "theme").send_keys("\ue007")
        script = "return getComputedStyle(document.body).backgroundColor"
        colours.append(page.execute_script(script))
    assert len(set(colours[:2])) == 2
    assert colours[2] in colours[:2]


def test_every_control_is_reached_by_the_tab_key(page: Any) -> None:
    reached = set()
    page.execute_script("document.querySelector('[name=class]').focus()")
    for _ in range(6):
        active = page.switch_to.active_element
        reached.add(active.get_attribute("name") or active.get_attribute("data-copy"))
        press(page, "\ue004")  # Tab
    assert {"class", "split", "text", "size", "overlays"} < reached


def wait(holds: Callable[[], bool]) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(None, 30).until(lambda _: holds())


@pytest.mark.parametrize("width", [400, 1600])
def test_nothing_exceeds_the_window(of_hostile: Shown, opened: Open, width: int) -> None:
    page = opened(of_hostile[0])
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= width


def test_every_image_and_control_has_a_name(page: Any) -> None:
    unnamed = page.execute_script(
        'return [...document.querySelectorAll(\'img:not(.mask):not([alt]), img:not(.mask)[alt=""],'
        " button:empty, input:not(label input), select:not(label select)')].length"
    )
    assert unnamed == 0
