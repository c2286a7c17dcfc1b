import { runStatements, type Migration } from './migration.ts'

/** An index of the skills that are shared with a user, where lists of the user begin. */
export const sharedIndex: Migration = {
  name: '0024-shared-index',
  up: (db, dialect) =>
    runStatements(db, dialect, () => `create index "collaborators_user" on "collaborators" ("user_id", "skill_id")`),
}
