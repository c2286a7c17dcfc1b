/** The bounds of what a registry takes. Every schema and every reader of untrusted input names one of these. */
export const limits = {
  /** A JSON body as sent. */
  bodyBytesMax: 24 * 1024 * 1024,
  /** An uploaded archive as sent. */
  archiveBytesMax: 24 * 1024 * 1024,
  fileBytesMax: 10 * 1024 * 1024,
  versionBytesMax: 16 * 1024 * 1024,
  versionFilesMax: 512,
  skillNameCharactersMax: 64,
  usernameCharactersMax: 39,
  displayNameCharactersMax: 200,
  descriptionCharactersMax: 4096,
  keywordsMax: 32,
  keywordCharactersMax: 64,
  changelogCharactersMax: 20_000,
  packSkillsMax: 500,
  pageSizeMax: 100,
  feedPageMax: 1000,
  blobBatchMax: 1000,
  avatarBytesMax: 256 * 1024,
  apiKeysPerUserMax: 100,
  /** What agent hosts give to the whole list of skills in their context, in characters. */
  listingCharactersMax: 8000,
} as const
