import type { Security, Skill, SkillDetails, SkillVersion } from '@skillstead/protocol'

/** Converts a time to milliseconds since 1970, as ClawHub publishes times. */
export function toMs(timestamp: string): number {
  return Date.parse(timestamp)
}

/** A skill in the form of an item of a list of ClawHub. */
export function toListedSkill(skill: Skill) {
  const at = toMs(skill.publishedAt)
  return {
    slug: skill.name,
    ownerHandle: skill.author.username,
    displayName: skill.name,
    summary: skill.description,
    tags: { latest: skill.latestVersion },
    stats: toStats(skill),
    createdAt: at,
    updatedAt: at,
    latestVersion: { version: skill.latestVersion, createdAt: at, changelog: '' },
  }
}

/** A search hit. The score falls with the position: clients sort by score, and the API returns hits in order. */
export function toHit(skill: Skill, position: number) {
  return {
    score: 1 / (position + 1),
    slug: skill.name,
    ownerHandle: skill.author.username,
    owner: { handle: skill.author.username },
    displayName: skill.name,
    summary: skill.description,
    version: skill.latestVersion,
    downloads: skill.downloads,
    updatedAt: toMs(skill.publishedAt),
  }
}

/** A skill in the form that `clawhub inspect` shows. */
export function toClawhubSkill(skill: SkillDetails) {
  return {
    slug: skill.name,
    displayName: skill.displayName,
    summary: skill.description,
    topics: skill.keywords,
    tags: skill.latestVersion === '' ? {} : { latest: skill.latestVersion },
    stats: toStats(skill),
    createdAt: toMs(skill.createdAt),
    updatedAt: toMs(skill.updatedAt),
  }
}

/** The latest version; null if the skill has no version that is offered. */
export function toLatest({ latestVersion, versions }: SkillDetails) {
  const latest = versions.find(({ version }) => version === latestVersion)
  return latest ? toClawhubVersionSummary(latest) : null
}

export function toClawhubVersionSummary(version: Pick<SkillVersion, 'version' | 'publishedAt' | 'changelog'>) {
  return { version: version.version, createdAt: toMs(version.publishedAt), changelog: version.changelog }
}

/** A version in the form of ClawHub, with its files and the result of its scan. */
export function toClawhubVersion(version: SkillVersion) {
  const { security } = version
  return {
    ...toClawhubVersionSummary(version),
    // Null, because `clawhub` accepts only the license of ClawHub or null.
    license: null,
    files: version.files.map(({ path, size, digest }) => ({ path, size, sha256: toSha256(digest) })),
    security: security && {
      status: verdicts[security.verdict],
      hasWarnings: security.findings.length > 0,
      checkedAt: toMs(security.scannedAt),
    },
  }
}

export function toSha256(digest: string): string {
  return digest.slice(digest.indexOf(':') + 1)
}

export function toClawhubOwner({ author }: Skill) {
  return { handle: author.username, displayName: author.username, image: null }
}

const verdicts = { safe: 'clean', caution: 'suspicious', dangerous: 'malicious' } as const
const severities = { critical: 'critical', high: 'critical', medium: 'warn', low: 'info', info: 'info' } as const

/**
 * The result of a scan; null for a version that was not scanned. `clawhub` asks before it installs a suspicious skill,
 * as the node's own client does for a dangerous one. `clawhub` never installs a blocked version, so no version is
 * reported as blocked: the scan policy of the node decides which versions are published.
 */
export function toModeration(security: Security | null) {
  if (security === null) return null
  return {
    isSuspicious: security.verdict === 'dangerous',
    isMalwareBlocked: false,
    verdict: verdicts[security.verdict],
    reasonCodes: toReasons(security),
    updatedAt: toMs(security.scannedAt),
    engineVersion: security.rulesVersion,
    summary: null,
  }
}

/** The ids of the rules that found something, each once. */
export function toReasons({ findings }: Security): string[] {
  return [...new Set(findings.map(({ ruleId }) => ruleId))]
}

export function toEvidence({ findings }: Security) {
  return findings.map(({ ruleId, severity, path, line, title, excerpt }) => ({
    code: ruleId,
    severity: severities[severity],
    file: path,
    line,
    message: title,
    evidence: excerpt,
  }))
}

function toStats({ downloads, stars }: Skill) {
  return { downloads, stars }
}
