import { runStatements, type Migration, type Types } from './migration.ts'

/** Second opinions on the content of versions. */
export const opinions: Migration = {
  name: '0003-opinions',
  up: (db, dialect) => runStatements(db, dialect, opinionTable),
}

const opinionTable = ({ keyed }: Types) => `
    create table "opinions" ("digest" text not null primary key, "opinion" text not null)${keyed}`
