import { toTimestamp } from '@skillstead/protocol'
import type { LogDraft } from '../log/append-change.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { ListedVersion, VersionContent } from './skill-document.ts'

/** Whether the skill is public, so that the log records it. Stubs are not. */
export function isPublicMatter(skill: Pick<SkillRow, 'visibility' | 'state' | 'stub'>): boolean {
  return skill.visibility === 'public' && skill.state === 'live' && skill.stub === 0
}

/** The entry of a version: all that a mirror needs to show it, and the digests that prove its content. */
export function toVersionEntry(
  skill: SkillRow,
  version: ListedVersion,
  { metadata, files }: VersionContent,
  holder: boolean,
): LogDraft {
  const { displayName, description, license, keywords } = metadata
  return {
    type: 'version',
    subject: `${skill.full_name}@${version.version}`,
    digest: version.digest,
    data: {
      ...identify(skill),
      holder,
      version: version.version,
      publishedAt: toTimestamp(version.published_at),
      publisher: { id: version.publisher_id, username: version.publisher },
      size: version.size,
      files: files.map(({ path, size, digest }) => ({ path, size, digest })),
      displayName,
      description,
      license,
      keywords,
      changelog: version.changelog,
      portable: version.portable === 1,
      yanked: version.yanked === 1,
      category: skill.category,
      repository: skill.repository,
      deprecated: skill.deprecated === 1,
      deprecationMessage: skill.deprecation_message,
      forkedFrom:
        skill.forked_from === null ? null : { fullName: skill.forked_from, version: skill.forked_from_version ?? '' },
    },
  }
}

/** The entry of a metadata change. */
export function toSkillEntry(skill: SkillRow, holder: boolean): LogDraft {
  return {
    type: 'skill',
    subject: skill.full_name,
    digest: null,
    data: {
      ...identify(skill),
      holder,
      displayName: skill.display_name,
      description: skill.description,
      category: skill.category,
      license: skill.license,
      keywords: JSON.parse(skill.keywords) as string[],
      repository: skill.repository,
      deprecated: skill.deprecated === 1,
      deprecationMessage: skill.deprecation_message,
      latestVersion: skill.latest_version,
    },
  }
}

/** The entry of a yank or of its removal. */
export function toYankEntry(skill: SkillRow, version: ListedVersion): LogDraft {
  return {
    type: 'yank',
    subject: `${skill.full_name}@${version.version}`,
    digest: version.digest,
    data: {
      ...identify(skill),
      version: version.version,
      yanked: version.yanked === 1,
      latestVersion: skill.latest_version,
    },
  }
}

/** The entry of a skill that is no longer public: deleted, made private, or renamed. */
export function toWithdrawnEntry(skill: Pick<SkillRow, 'id' | 'name' | 'full_name' | 'owner' | 'owner_id'>): LogDraft {
  return { type: 'withdrawn', subject: skill.full_name, digest: null, data: identify(skill) }
}

/** The entry of a takedown. It says nothing about the claim. */
export function toTakedownEntry(skill: Parameters<typeof identify>[0]): LogDraft {
  return { type: 'takedown', subject: skill.full_name, digest: null, data: identify(skill) }
}

function identify(skill: Pick<SkillRow, 'id' | 'name' | 'full_name' | 'owner' | 'owner_id'>) {
  return {
    skill: { id: skill.id, name: skill.name, fullName: skill.full_name },
    owner: { id: skill.owner_id, username: skill.owner },
  }
}
