import { keyedTable, primary, text } from './columns.ts'

export const opinionTables = {
  /** The opinion of a service on the content of versions. */
  opinions: keyedTable({
    /** SHA-256 over the list of files, as in `versions`. */
    digest: primary(text),
    /** The public form as JSON. */
    opinion: text,
  }),
}
