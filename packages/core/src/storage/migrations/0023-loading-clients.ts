import { runStatements, type Migration } from './migration.ts'

/** Which clients load the latest version of a skill, for the filter of the search. */
export const loadingClients: Migration = {
  name: '0023-loading-clients',
  up: (db, dialect) =>
    runStatements(db, dialect, ({ whole }) => `alter table "skills" add column "loaded_by" ${whole}`),
}
