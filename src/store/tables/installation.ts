/** The one row that names the installation. */
export interface InstallationTable {
  id: 1;
  /** Random; means nothing to others. */
  name: string;
}

export interface InstallationTables {
  installation: InstallationTable;
}
