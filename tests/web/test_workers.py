"""Workers of a run, as the service shows them."""

from web.serving import serving

from csim.folder.workers import WorkerReport, WorkerRow, Workers


class Embedded:
    """A source with two workers, or with as many as it is given."""

    workers = (WorkerRow("pond:7", "1.0", 4), WorkerRow("lake:8", "1.0", None))

    def describe(self):
        return Workers(self.workers, lag=12, retries=3)

    def __iter__(self):
        return iter(())


def test_page_metrics_and_api_show_workers_versions_lag_and_retries(empty):
    with serving(empty) as (client, _):
        assert "Workers" not in client.get("/overview").text
        report = WorkerReport(empty / "stream.db", Embedded(), clock=lambda: 0.0)
        report.write()
        page = client.get("/overview").text
        assert "pond:7" in page
        assert "12 images waiting" in page
        metrics = client.get("/metrics").text
        assert 'csim_workers{csim="1.0",model="4"} 1.0' in metrics
        assert 'csim_workers{csim="1.0",model="none"} 1.0' in metrics
        assert "csim_worker_lag_images 12.0" in metrics
        assert "csim_worker_retries 3.0" in metrics
        shown = client.get("/v1/status").json()["workers"]
        assert shown["workers"][0] == {"name": "pond:7", "csim": "1.0", "model": 4}
        Embedded.workers = ()
        WorkerReport(empty / "stream.db", Embedded()).write()
        assert "No worker is at work" in client.get("/overview").text
        assert "csim_workers{" not in client.get("/metrics").text
