"""Plain libraries: of those for numbers and tables, the names that only compute.

pandas, NumPy and Arrow also read files, the clock (`Timestamp("today")`, `datetime64("now")`) and
chance, in more ways than a list could name. So what is listed is what does not.
"""

from typing import Final

PLAIN_NAMES: Final = {
    "numpy": frozenset(
        """
        abs absolute add all any arange arccos arcsin arctan arctan2 argmax argmin argsort array
        asarray average bincount bool_ cbrt ceil clip column_stack concatenate copysign corrcoef
        cos cosh cov cross cumprod cumsum deg2rad diff digitize divide dot dtype e equal exp
        expm1 eye fabs float16 float32 float64 floating floor floor_divide fmax fmin full
        full_like generic greater greater_equal heaviside histogram hstack hypot identity inf
        inner int16 int32 int64 int8 integer interp isclose isfinite isin isinf isnan less
        less_equal linspace log log10 log1p log2 logical_and logical_not logical_or logspace max
        maximum mean median meshgrid min minimum mod multiply nan nan_to_num nanmax nanmean
        nanmedian nanmin nanstd nansum ndarray negative not_equal number ones ones_like outer
        percentile pi piecewise polyfit polyval power prod ptp quantile rad2deg ravel reciprocal
        remainder repeat reshape round searchsorted select sign signbit sin sinh sort split sqrt
        square squeeze stack std subtract sum take tan tanh tile transpose trapz trunc uint16
        uint32 uint64 uint8 unique var vectorize vstack where zeros zeros_like
        """.split()
    ),
    "pandas": frozenset(
        """
        Categorical CategoricalDtype DataFrame DateOffset Index Int16Dtype Int32Dtype Int64Dtype
        Int8Dtype Interval MultiIndex NA NaT RangeIndex Series StringDtype Timedelta concat
        crosstab cut factorize get_dummies isna isnull melt merge merge_asof notna notnull pivot
        pivot_table qcut to_numeric to_timedelta unique wide_to_long
        """.split()
    ),
    "pyarrow": frozenset(
        """
        Array ChunkedArray DataType Field RecordBatch Schema Table array binary bool_
        chunked_array compute concat_arrays concat_tables date32 date64 decimal128 decimal256
        dictionary duration field float16 float32 float64 int16 int32 int64 int8 large_binary
        large_string list_ map_ null nulls record_batch scalar schema string struct table time32
        time64 timestamp types uint16 uint32 uint64 uint8 utf8
        """.split()
    ),
}
PLAIN_PARTS: Final = frozenset({"numpy", "pandas", "pyarrow", "pyarrow.compute", "pyarrow.types"})
"""The modules of them that may be imported."""
