# The service in a container:
#
#     docker build --tag vambrace .
#     docker run --rm --volume vambrace:/data vambrace keys create me --role admin --role read
#     docker run --detach --volume vambrace:/data --publish 127.0.0.1:8000:8000 vambrace
#
# The second line prints a key. Without any key the service refuses to listen beyond its own machine, and for a container
# every caller is beyond. compose.yaml has the same with PostgreSQL.

FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# Everything goes into one folder, which the second stage takes over without pip's cache and without this source.
RUN python -m venv /opt/vambrace \
    && /opt/vambrace/bin/python -m pip install --no-cache-dir ".[serve,postgres]"

FROM python:3.12-slim
# A user of its own without a password and without a shell; a number, so that Kubernetes can see that it is not root.
RUN useradd --system --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin vambrace \
    && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=build /opt/vambrace /opt/vambrace
# Compiled kernels and temporary files are kept beside the data; nothing else is written, so the rest may be read-only.
# A Parquet export is a temporary file first: it may be large, and /tmp may be memory.
ENV PATH="/opt/vambrace/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/data/kernels \
    TMPDIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
# Alive means that the process answers. Whether the database answers too is /readyz: a container without its database
# must not be restarted for that.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# Stops cleanly on SIGTERM: running requests are answered first, so give it more than their ten seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["vambrace"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000", "--db", "sqlite:///vambrace.db"]
