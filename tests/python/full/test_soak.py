"""Ten thousand iterations on two threads with injected faults: nothing leaks or hangs, and no bit is wrong after it."""
import pytest

from suites import lasting, report_of


@pytest.mark.parametrize("seed", [0, 1])
def test_ten_thousand_iterations(tmp_path, seed):
    lasting(*report_of("run_soak", tmp_path, "--iterations", 10000 if seed == 0 else 2000, "--seed", seed))
