/** Limits on the size of input, which schemas and parsers of untrusted input share. */
export const limits = {
  /** Maximum size of a JSON body for endpoints that set no limit. */
  bodyBytesDefault: 1024 * 1024,
  /** The largest JSON body of any endpoint. */
  bodyBytesMax: 24 * 1024 * 1024,
  /** Number of top-level fields of a JSON body, known or unknown, checked before the fields are validated. */
  bodyFieldsMax: 64,
  /** Nesting depth of a JSON body, and total number of its values. */
  bodyDepthMax: 32,
  bodyValuesMax: 1_000_000,
  /** Size of an uploaded archive, before it is unpacked. */
  archiveBytesMax: 24 * 1024 * 1024,
  fileBytesMax: 10 * 1024 * 1024,
  versionBytesMax: 16 * 1024 * 1024,
  versionFilesMax: 512,
  /**
   * Files in a publish request. A package with more than `versionFilesMax` files is invalid; a request with more than
   * this number is rejected without a scan.
   */
  publishFilesMax: 10_000,
  skillNameCharactersMax: 64,
  usernameCharactersMax: 39,
  displayNameCharactersMax: 200,
  descriptionCharactersMax: 4096,
  /** Length of the text of a search in a URL, and of the description of a need in a body. */
  queryCharactersMax: 1000,
  needCharactersMax: 2000,
  /** The context of a search: lengths of its three lists, of a path, and of the name of a language. */
  contextFilesMax: 100,
  contextLanguagesMax: 20,
  contextInstalledMax: 100,
  contextPathCharactersMax: 256,
  contextLanguageCharactersMax: 40,
  keywordsMax: 32,
  keywordCharactersMax: 64,
  changelogCharactersMax: 20_000,
  /** Quarantined versions per user: each occupies storage with its whole content. */
  quarantinedPerUserMax: 20,
  packSkillsMax: 500,
  /** Skills that a version requires. Also applies to its commands, MCP servers and environment variables, each. */
  requirementsMax: 100,
  /** Characters of a range of versions. */
  rangeCharactersMax: 200,
  /** Skills in a resolution, including the skills that the request names. */
  resolveSkillsMax: 1000,
  /** CI identities that an owner trusts, and the claims that each identity names. */
  trustedPublishersPerOwnerMax: 200,
  trustedClaimsMax: 10,
  /** Skills in a page of packs: a hundred packs of 500 skills would be an answer of 77 MB. */
  packListSkillsMax: 5000,
  pageSizeMax: 100,
  feedPageMax: 1000,
  /** Size of an entry in the public log: the maximum of its length prefix of two bytes (C2SP tlog-tiles). */
  logEntryBytesMax: 65_535,
  blobBatchMax: 1000,
  heartbeatSkillsMax: 1000,
  webhookSkillsMax: 500,
  webhooksPerUserMax: 20,
  webhookDeliveriesShownMax: 100,
  trackAgentsMax: 100,
  avatarBytesMax: 256 * 1024,
  apiKeysPerUserMax: 100,
  organisationsPerUserMax: 100,
  teamsPerOrganisationMax: 500,
  teamMembersMax: 1000,
  teamSkillsMax: 1000,
  policyNamesMax: 200,
  reviewCommentsMax: 1000,
  /** Characters that agent hosts reserve for the whole list of skills in their context. */
  listingCharactersMax: 8000,
} as const
