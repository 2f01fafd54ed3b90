"""Spark: the kernels run in the Python workers of an Apache Spark session, on this machine or on a cluster.

The session is that of the program, if it has one. Otherwise it is started where Spark's own configuration says
(`spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS`), or on this machine. There it listens on the loopback interface only, answers only
those that know a secret, encrypts what it spills, and has no web page. On a cluster, traffic has to be encrypted
(`spark.authenticate`, `spark.network.crypto.enabled`), or `spark.network.crypto.enabled` has to be `false` in so many words.

Parts travel in Arrow batches through `mapInArrow`, as many in each call as workers can soon use. Where Spark ends a call because
a worker is lost, the call is made again. Since a kernel is a pure function of its part, with its draws keyed by place, doing a
part again gives the same columns and spends nothing.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.plugin import errors, workers
from dpspec_engines.parts import AHEAD, ROUNDS, attempt_with, cannot_run, given_up, processors, raised, versions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

ATTEMPTS = 4
"""So often a call is made before its parts are given up; Spark's own number for a task of a cluster."""
_PRIVATE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.driver.maxResultSize": "0",
    "spark.log.level": "OFF",
}
"""The settings of a session on this machine, besides its master."""
_ENCRYPTED = "spark.network.crypto.enabled"


class Spark(workers.Workers):
    """Sends the columns of some parts to the workers and takes the columns of their results back, call by call."""

    name: ClassVar[str] = "spark"

    def __init__(self) -> None:
        self._started: SparkSession | None = None

    @cached_property
    def session(self) -> SparkSession:
        """The session, started when it is first needed.

        Raises:
            MissingLibraryError: PySpark, pandas or PyArrow is not installed.
            WorkersError: Java is missing, or the cluster does not answer or speaks in the clear.
        """
        try:
            import pandas  # noqa: F401 - mapInArrow needs it
            import pyarrow  # noqa: F401
            from pyspark import SparkConf, SparkContext
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError:
            raise errors.MissingLibraryError("workers", "pyspark", "dpspec-engines[spark]", value="spark") from None
        found = SparkSession.getActiveSession()
        if found is not None:
            _check_encrypted(found.sparkContext.getConf())
            return found
        try:
            SparkContext._ensure_initialized()
            conf = SparkConf()
            if str(conf.get("spark.master", "local")).startswith("local"):
                conf.setAll([("spark.master", f"local[{processors()}]"), *_PRIVATE.items()])
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise the first python3 of the path
            _check_encrypted(conf)
            with quiet():
                self._started = SparkSession.builder.config(conf=conf).appName("dpspec").getOrCreate()
        except (PySparkException, OSError) as problem:
            rule = f"cannot be started ({type(problem).__name__})"
            raise errors.WorkersError("session", rule, "install Java 17 or later and set JAVA_HOME", value=self.name) from None
        return self._started

    @property
    def threads(self) -> int:
        """How many parts the workers can run at once."""
        return max(1, int(self.session.sparkContext.defaultParallelism))

    @property
    def parts(self) -> int:
        return ROUNDS * self.threads

    def map(self, kernel: workers.Kernel, parts: Iterable[workers.Columns]) -> Iterator[workers.Columns]:
        """The kernel's results, in the order of the parts.

        Raises:
            WorkersError: the session is gone, workers have other versions, or were lost with each attempt.
            Exception: what the kernel raised.
        """
        waiting, run = iter(parts), partial(_run_batches, pickled(partial(attempt_with, versions(), kernel)))
        while some := list(islice(waiting, AHEAD * self.threads)):
            yield from self._call(run, some)

    def _call(self, run: Any, parts: Sequence[workers.Columns]) -> Iterator[workers.Columns]:
        import pyarrow as pa
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException, PythonException

        rows = pa.table({"place": range(len(parts)), "data": pa.array(map(pickled, parts), pa.large_binary())})
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with quiet():
                    frame = self.session.createDataFrame(rows).mapInArrow(run, "place long, data binary")
                    found = frame.toArrow()
                break
            except (PySparkException, Py4JError, OSError) as problem:
                if not _is_alive(self.session):
                    rule = f"lost its session ({type(problem).__name__})"
                    raise errors.WorkersError("workers", rule, "see to the cluster and run again", value=self.name) from None
                if isinstance(problem, PythonException):
                    raise cannot_run(self.name, problem) from None
                if attempt == ATTEMPTS:
                    raise given_up(self.name) from None
        for data in found.sort_by("place").column("data"):
            yield raised(pickle.loads(data.as_py()))  # noqa: S301 - made by the kernels of this run

    def close(self) -> None:
        if self._started is not None:
            self._started.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning about pandas 3, of which only the version is asked for here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def pickled(thing: object) -> bytes:
    """The bytes of a part or of a kernel, in the way Spark itself sends functions: those of a script, too."""
    from pyspark.cloudpickle import dumps

    return bytes(dumps(thing))


def _run_batches(attempt: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker: the result of each part."""
    import pyarrow as pa

    kernel = pickle.loads(attempt)  # noqa: S301 - made by the process that releases
    for batch in batches:
        for place, data in zip(batch.column("place").to_pylist(), batch.column("data"), strict=True):
            result = pickle.dumps(kernel(pickle.loads(data.as_py())), protocol=5)  # noqa: S301
            yield pa.RecordBatch.from_pydict({"place": [place], "data": pa.array([result], pa.binary())})


def _is_alive(session: SparkSession) -> bool:
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except Exception:  # the connection is gone in one of many ways
        return False


def _check_encrypted(conf: SparkConf) -> None:
    """A cluster is sent the key of the release, so its traffic is encrypted, or said not to be."""
    master = str(conf.get("spark.master", "local"))
    safe = conf.get("spark.authenticate", "false") == conf.get(_ENCRYPTED, "false") == "true"
    if not (master.startswith("local") or safe or (conf.contains(_ENCRYPTED) and conf.get(_ENCRYPTED) == "false")):
        raise errors.WorkersError(
            "session", "would be sent the key of the release in the clear",
            f"set spark.authenticate and {_ENCRYPTED} to true, or the latter to false on a private network", value=master,
        )  # fmt: skip
