"""The same pages of a service whose database is PostgreSQL."""

from serving import client

ARMS = {"name": "shop", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=2"}


def test_a_page_shows_what_is_in_postgresql(postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA pages")
    place = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-csearch_path%3Dpages"
    with client(place) as browser:
        assert browser.post("/v1/experiments", json=ARMS).status_code == 201
        for n in (10, 200):
            found = browser.post("/v1/experiments/shop/ask", json={"count": n}).json()["decisions"]
            answers = [{"id": each["id"], "reward": float(each["arm"] == "new")} for each in found]
            browser.post("/v1/experiments/shop/tell", json={"answers": answers})
        assert "“new” is the best arm" in browser.get("/experiments/shop").text
        past = browser.get("/v1/experiments/shop/history").json()
        assert past["points"][-1]["asked"] == 210
