"""Checks of arguments: by annotations, and by the range of numbers, words and arrays."""

from .signatures import check_arguments as check_arguments
from .values import (
    LARGEST_NUMBER as LARGEST_NUMBER,
    are_degrees as are_degrees,
    as_items as as_items,
    as_number as as_number,
    as_numbers as as_numbers,
    is_finite as is_finite,
    of_a_file as of_a_file,
    read_array as read_array,
    read_count as read_count,
    read_mapping as read_mapping,
    read_names as read_names,
    read_number as read_number,
    read_positive as read_positive,
    read_positives as read_positives,
    read_time as read_time,
    read_vector as read_vector,
    read_word as read_word,
    show as show,
)
