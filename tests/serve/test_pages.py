"""The pages without a browser: who may see and send what, and what stands in them."""

import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from vambrace.serve import keys, sessions, tables
from vambrace.serve.app import create_app
from vambrace.serve.pages import ROUTERS
from vambrace.serve.settings import Settings

HOME = "http://127.0.0.1"
FORMS = ["/logout", "/new", "/experiments/shop/arms", "/experiments/shop/arms/retire", "/experiments/shop/close"]
LogIn = Callable[..., TestClient]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/service.db"


@pytest.fixture
def client(url: str) -> Iterator[TestClient]:
    """A browser of somebody at the machine itself, where there are no keys, with an experiment."""
    with TestClient(create_app(Settings(db=url)), base_url=HOME, follow_redirects=False) as found:
        body = {"name": "shop", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=2"}
        assert found.post("/v1/experiments", json=body).status_code == 201
        yield found


@pytest.fixture
def log_in(client: TestClient, url: str) -> LogIn:
    """Logs in with a new key that has some roles."""

    def with_key(*roles: str, experiments: list[str] | None = None) -> TestClient:
        client.cookies.clear()
        found = client.post("/login", data={"key": new_key(client, url, *roles, experiments=experiments)})
        assert found.status_code == 303
        return client

    return with_key


def new_key(client: TestClient, url: str, *roles: str, experiments: list[str] | None = None) -> str:
    """A key that the service knows."""
    database = tables.opened(url)
    text, _ = keys.create(database, name="somebody", roles=roles, experiments=experiments)
    database.close()
    a_second_later(client)
    return text


def a_second_later(client: TestClient) -> None:
    """The service reads the keys again."""
    client.app.state.access._read = -10.0  # type: ignore[attr-defined]


def token_of(client: TestClient, page: str = "/") -> str:
    """The token in a page."""
    found = re.search('name="token" value="([0-9a-f]+)"', client.get(page).text)
    return found[1] if found else ""


def played(client: TestClient, n: int = 40) -> None:
    """Decisions and answers of the experiment: the new arm always wins."""
    for decision in client.post("/v1/experiments/shop/ask", json={"count": n}).json()["decisions"]:
        client.post("/v1/experiments/shop/tell", json={"id": decision["id"], "reward": float(decision["arm"] == "new")})


def test_every_form_is_in_the_list_of_this_test() -> None:
    found = {
        route.path.replace("{name}", "shop")
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and "POST" in (route.methods or ())
    }
    assert found == {*FORMS, "/login", "/certify"}


@pytest.mark.parametrize("path", ["/", "/new", "/experiments/shop", "/certify", "/login", "/experiments/none"])
def test_pages_allow_nothing_from_elsewhere_and_have_no_script_in_them(
    client: TestClient, log_in: LogIn, path: str
) -> None:
    answer = log_in("read", "admin").get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", answer.text)
    assert not re.findall(r"(?:src|href|action)=\"(?!/|#)", answer.text)


def test_a_form_without_the_token_of_the_session_is_refused(log_in: LogIn) -> None:
    client = log_in("read", "admin")
    of_another_service = sessions.token_for(b"another secret", client.cookies[sessions.COOKIE])
    data = {"label": "x", "name": "x", "arms": "a\nb", "sure": "yes"}
    for form in FORMS:
        assert client.post(form, data=data).status_code == 403, form
        for token in ("", "0" * 64, "é", of_another_service):
            assert client.post(form, data=data | {"token": token}).status_code == 403, (form, token)
    found = client.get("/v1/experiments/shop").json()
    assert (found["state"], len(found["arms"])) == ("open", 2)
    assert len(client.get("/v1/experiments").json()["experiments"]) == 1


def test_without_keys_too_a_form_needs_a_token(client: TestClient) -> None:
    data = {"label": "x", "sure": "yes"}
    token = token_of(client, "/new")
    for form in FORMS:
        assert client.post(form, data=data).status_code == 403, form
        answer = client.post(form, data=data | {"token": token}, headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403, form


def test_the_token_of_one_session_is_not_that_of_another(log_in: LogIn) -> None:
    first = token_of(log_in("read", "admin"))
    second = log_in("read", "admin")
    assert second.post("/experiments/shop/arms", data={"label": "x", "token": first}).status_code == 403
    assert second.post("/experiments/shop/arms", data={"label": "x", "token": token_of(second)}).status_code == 303


def test_a_session_is_new_and_is_not_the_key(client: TestClient, url: str) -> None:
    text = new_key(client, url, "read")
    planted = "planted.99999999999.0"
    client.cookies.set(sessions.COOKIE, planted)
    assert client.get("/").headers["location"].startswith("/login")
    answer = client.post("/login", data={"key": text})
    cookie = answer.headers["set-cookie"]
    assert planted not in cookie
    assert text not in cookie
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "secure" not in cookie.lower()
    assert keys.digest_of(text) not in cookie
    answer = client.post("/login", data={"key": text}, headers={"X-Forwarded-Proto": "https"})
    assert "; secure" in answer.headers["set-cookie"].lower()


def test_a_wrong_key_gets_no_session(client: TestClient, log_in: LogIn) -> None:
    log_in("read").cookies.clear()
    for key in ("", "vb_" + "A" * 43, "é" * 46, "vb_"):
        answer = client.post("/login", data={"key": key})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert "unknown, expired or revoked" in answer.text
    assert client.get("/").headers["location"] == "/login?next=/"


def test_another_site_cannot_log_somebody_in(client: TestClient, url: str) -> None:
    text = new_key(client, url, "read")
    for origin in ("http://evil.example", "null", "http://127.0.0.1.evil.example", "http://[::1", ""):
        answer = client.post("/login", data={"key": text}, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_a_login_leads_to_a_page_of_this_service(client: TestClient, url: str) -> None:
    text = new_key(client, url, "read")
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "", "/a\nb"):
        assert client.post("/login", data={"key": text, "next": target}).headers["location"] == "/", target
    answer = client.post("/login", data={"key": text, "next": "/experiments/shop"})
    assert answer.headers["location"] == "/experiments/shop"


def test_logout_ends_the_session_of_the_browser(log_in: LogIn) -> None:
    client = log_in("read")
    assert client.get("/").status_code == 200
    copy = client.cookies[sessions.COOKIE]
    answer = client.post("/logout", data={"token": token_of(client)})
    assert answer.headers["location"] == "/login"
    assert sessions.COOKIE not in client.cookies
    assert client.get("/").status_code == 303
    client.cookies.set(sessions.COOKIE, copy)  # somebody has stolen it
    assert client.get("/").status_code == 303
    assert client.get("/v1/experiments").status_code == 401


def test_logout_ends_one_session_and_no_other(client: TestClient, url: str) -> None:
    text = new_key(client, url, "read")
    cookies = []
    for _ in range(2):  # the same key, in the same second
        client.cookies.clear()
        client.post("/login", data={"key": text})
        cookies.append(client.cookies[sessions.COOKIE])
    client.post("/logout", data={"token": token_of(client)})
    for cookie, status in zip(cookies, (200, 303), strict=True):
        client.cookies.set(sessions.COOKIE, cookie)
        assert client.get("/").status_code == status


def test_a_session_ends_with_its_key(client: TestClient, log_in: LogIn, url: str) -> None:
    log_in("read")
    database = tables.opened(url)
    for key in keys.load(database):
        keys.revoke(database, key)
    database.close()
    a_second_later(client)
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("role", ["ask", "tell", "read", "admin"])
def test_each_role_sees_what_it_may(log_in: LogIn, role: str) -> None:
    client = log_in(role)
    reads, changes = role == "read", role == "admin"
    for path in ("/", "/experiments/shop", "/experiments/shop/now", "/certify"):
        assert client.get(path).status_code == (200 if reads else 403), path
    assert client.get("/new").status_code == (200 if changes else 403)
    token = token_of(client, "/new")  # the page of a refusal has one too: for logging out
    for form, data in (("arms", {"label": "x"}), ("arms/retire", {"label": "x"}), ("close", {"sure": "yes"})):
        answer = client.post(f"/experiments/shop/{form}", data=data | {"token": token})
        assert answer.status_code == (303 if changes else 403), form
    assert ("New experiment" in client.get("/").text) is False


def test_a_foreign_experiment_does_not_exist(log_in: LogIn) -> None:
    client = log_in("read", "admin", experiments=["other"])
    assert "shop" not in client.get("/").text
    missing = client.get("/experiments/none")
    found = client.get("/experiments/shop")
    assert found.status_code == missing.status_code == 404
    assert found.text.replace("shop", "none") == missing.text
    token = token_of(client)
    for form in ("arms", "arms/retire", "close"):
        assert (
            client.post(f"/experiments/shop/{form}", data={"label": "x", "sure": "yes", "token": token}).status_code
            == 404
        )
    data = {"name": "shop2", "arms": "a\nb", "budget": "1", "token": token}
    assert client.post("/new", data=data).status_code == 422


def test_create_add_retire_and_close(log_in: LogIn, url: str) -> None:
    client = log_in("read", "admin")
    data = {"name": "menu", "arms": " soup \n\nsalad\n", "budget": "7", "minutes": "10", "default": "yes"}
    data |= {"token": token_of(client)}
    assert client.post("/new", data=data).headers["location"] == "/experiments/menu"
    made = client.get("/v1/experiments/menu").json()
    assert made["policy"] == "kl-ucb-wr:budget=7"
    assert [arm["label"] for arm in made["arms"]] == ["soup", "salad"]
    assert (made["expires_after"], made["default_reward"]) == (600.0, 0.0)
    assert "already" in client.post("/new", data=data).text
    for form, more in (("arms", {"label": "cake"}), ("arms/retire", {"label": "soup"}), ("close", {"sure": "yes"})):
        answer = client.post(f"/experiments/menu/{form}", data={"token": token_of(client)} | more)
        assert answer.headers["location"] == "/experiments/menu#arms"
    found = client.get("/v1/experiments/menu").json()
    assert [(arm["label"], arm["state"]) for arm in found["arms"]] == [
        ("soup", "retired"),
        ("salad", "open"),
        ("cake", "open"),
    ]
    assert found["state"] == "closed"
    assert "Retire an arm" not in client.get("/experiments/menu").text
    database = tables.opened(url)
    log = tables.actions(database, 4)
    database.close()
    assert {line.action for line in log} == {"create experiment", "add arm", "retire arm", "close experiment"}
    assert len({line.actor for line in log}) == 1
    assert "nobody" not in {line.actor for line in log}


def test_a_form_that_cannot_be_used_says_why(client: TestClient) -> None:
    data = {"name": "menu", "arms": "soup\nsalad", "budget": "7", "token": token_of(client, "/new")}
    for part, given in (
        ("name", "a b"),
        ("arms", ""),
        ("policy", "se-wrr"),
        ("budget", "many"),
        ("minutes", "x"),
        ("arms", "a\na"),
    ):
        answer = client.post("/new", data=data | {part: given})
        assert answer.status_code == 422, part
        assert 'role="alert"' in answer.text
        assert "mistake" not in answer.text


def test_labels_that_are_numbers_can_be_retired_and_added_again(client: TestClient) -> None:
    client.post("/v1/experiments", json={"name": "slots", "arms": [0, 1, 2], "policy": "ucb1"})
    for form in ("arms/retire", "arms"):
        data = {"label": "0", "token": token_of(client, "/new")}
        assert client.post(f"/experiments/slots/{form}", data=data).status_code == 303
    assert len(client.get("/v1/experiments/slots").json()["arms"]) == 3


def test_names_are_escaped(client: TestClient) -> None:
    evil = '<img src=x onerror="alert(1)">\'"&'
    client.post("/v1/experiments/shop/arms", json={"label": evil})
    played(client)
    text = client.get("/experiments/shop").text
    assert "<img src=x" not in text
    assert evil in unescape(text)


def test_the_answer_comes_first_and_changes_with_the_answers(client: TestClient) -> None:
    assert "No answers yet" in client.get("/experiments/shop").text
    played(client, 12)
    played(client, 200)
    text = unescape(client.get("/experiments/shop/now").text)
    assert "“new” is the best arm" in text
    fakes = re.search(r'id="withstands">([\d,]+)<', text)
    assert fakes is not None
    log = client.get("/v1/experiments/shop/history").json()["points"][-1]
    assert int(fakes[1]) == log["budget"] + 1
    assert client.get("/v1/experiments/shop/certificate").json()["budget"] == log["budget"]
    assert f"At least {fakes[1]} of the" in text
    assert fakes[1] in client.get("/").text


def test_alarms_are_shown(client: TestClient) -> None:
    decision = client.post("/v1/experiments/shop/ask", json={}).json()["decisions"][0]["id"]
    for reward in (1.0, 0.0, 0.0):
        client.post("/v1/experiments/shop/tell", json={"id": decision, "reward": reward})
    client.post("/v1/experiments/shop/tell", json={"id": decision[:-1] + "x", "reward": 1.0})
    client.post("/v1/experiments/shop/tell", json={"id": decision, "reward": 7.0})
    for _ in range(30):  # they are written once a second
        text = client.get("/experiments/shop/now").text
        kinds = {each["kind"] for each in client.get("/v1/experiments/shop/history").json()["alarms"]}
        if kinds >= {"conflict", "unknown", "refused"}:
            break
        time.sleep(0.1)
    assert kinds == {"conflict", "unknown", "refused"}
    text = client.get("/experiments/shop/now").text
    assert "2 answers contradict an earlier answer" in text
    assert "1 answer has an id that this experiment never gave; it does not count" in text


def test_the_history_has_every_decision(client: TestClient) -> None:
    played(client)
    past = client.get("/v1/experiments/shop/history?points=5").json()
    assert past["names"] == ["old", "new"]
    assert past["points"][-1]["asked"] == 40
    shares = [point["shares"] for point in past["points"] if point["shares"]]  # a slow machine has stretches without
    assert shares
    assert all(sum(each) == pytest.approx(1.0) for each in shares)
    assert past["behind"] == 0
    assert client.get("/v1/experiments/shop/changes?after=3").json()["events"] == past["events"]
    assert client.get("/v1/experiments/none/history").status_code == 404


def test_an_address_that_cannot_be_is_a_page_that_says_so(client: TestClient) -> None:
    for path in ("/experiments/a b", "/experiments/%00", "/experiments/" + "x" * 200):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "There is no such page" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_static_files_are_kept_and_others_do_not_exist(client: TestClient) -> None:
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    for name in ("../pages/words.py", "%2e%2e/settings.py", "none.js"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_table_needs_a_token_and_the_name_of_a_table(log_in: LogIn) -> None:
    client = log_in("read")
    found = re.search('data-token="([0-9a-f]+)"', client.get("/certify").text)
    assert found is not None
    assert client.post("/certify?name=ab.csv", content=b"arm,views,clicks\n").status_code == 403
    answer = client.post("/certify?name=ab.exe", content=b"x", headers={"X-CSRF-Token": found[1]})
    assert answer.status_code == 422
    assert "expected one that ends in .csv" in answer.text
