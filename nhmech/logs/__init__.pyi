from .csv import read_csv as read_csv, write_csv as write_csv
from .exporters import export_run as export_run
from .importing import import_run as import_run
from .mcap import read_mcap as read_mcap, write_mcap as write_mcap
from .parquet import read_parquet as read_parquet, write_parquet as write_parquet
from .recording import Recording as Recording, read_recording as read_recording
from .table import Table as Table
