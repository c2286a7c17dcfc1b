/** What versions use, as far as their text tells. */
export interface AccessTables {
  version_access: {
    version_id: string
    /** The lists of it, JSON: the same text where two versions use the same. */
    access: string
  }
}
