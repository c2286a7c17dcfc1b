/** The bounds of what a registry takes. Every schema and every reader of untrusted input names one of these. */
export const limits = {
  /** A JSON body as sent, where its endpoint does not say otherwise. */
  bodyBytesDefault: 1024 * 1024,
  /** The largest JSON body that any endpoint takes. */
  bodyBytesMax: 24 * 1024 * 1024,
  /** The fields of a JSON body, known or not: before they are looked at one by one. */
  bodyFieldsMax: 64,
  /** How deep lists and objects of a JSON body may nest, and how many values there may be in all. */
  bodyDepthMax: 32,
  bodyValuesMax: 1_000_000,
  /** An uploaded archive as sent. */
  archiveBytesMax: 24 * 1024 * 1024,
  fileBytesMax: 10 * 1024 * 1024,
  versionBytesMax: 16 * 1024 * 1024,
  versionFilesMax: 512,
  /** The files that a publish may list at all; over `versionFilesMax` the package is refused, over this the request. */
  publishFilesMax: 10_000,
  skillNameCharactersMax: 64,
  usernameCharactersMax: 39,
  displayNameCharactersMax: 200,
  descriptionCharactersMax: 4096,
  keywordsMax: 32,
  keywordCharactersMax: 64,
  changelogCharactersMax: 20_000,
  /** The versions of a user that wait for an administrator at a time: each keeps its whole content. */
  quarantinedPerUserMax: 20,
  packSkillsMax: 500,
  pageSizeMax: 100,
  feedPageMax: 1000,
  /** An entry of the public log: what two bytes of length before it can say (C2SP tlog-tiles). */
  logEntryBytesMax: 65_535,
  blobBatchMax: 1000,
  heartbeatSkillsMax: 1000,
  webhookSkillsMax: 500,
  webhooksPerUserMax: 20,
  webhookDeliveriesShownMax: 100,
  trackAgentsMax: 100,
  avatarBytesMax: 256 * 1024,
  apiKeysPerUserMax: 100,
  /** What agent hosts give to the whole list of skills in their context, in characters. */
  listingCharactersMax: 8000,
} as const
