import { type SkillDetails, toShortName } from '@skillstead/protocol'
import type { DescribedVersion } from '../scopes/skill-archives.ts'

/** A package in the form of npm's registry, with the manifests of its versions. */
export interface Packument {
  readonly name: string
  readonly 'dist-tags': { readonly latest: string }
  readonly versions: Readonly<Record<string, Manifest>>
  readonly [field: string]: unknown
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dist: { readonly tarball: string; readonly integrity?: string; readonly shasum?: string }
  readonly [field: string]: unknown
}

/**
 * Converts a skill to a package. `versions` are those that clients may choose, at least one. `registry` is the URL of
 * the gateway. Yanked versions keep their times, as unpublished versions at npm do: clients with a minimum age look up
 * the time of a version that a lock file names.
 */
export function toPackument(
  fullName: string,
  skill: SkillDetails,
  versions: readonly DescribedVersion[],
  registry: string,
): Packument {
  const name = toPackageName(fullName)
  const manifests = versions.map((version) => toNpmManifest(fullName, skill, version, registry))
  // The tag `latest` must name a listed version, so it falls back to the highest one.
  const isListed = versions.some(({ version }) => version === skill.latestVersion)
  const latest = isListed ? skill.latestVersion : versions[0]!.version
  const times = skill.versions.map(({ version, publishedAt }) => [version, publishedAt])
  return {
    _id: name,
    name,
    'dist-tags': { latest },
    ...toAbout(skill, registry),
    versions: Object.fromEntries(manifests.map((manifest) => [manifest.version, manifest])),
    time: { created: skill.createdAt, modified: skill.updatedAt, ...Object.fromEntries(times) },
  }
}

export function toPackageName(fullName: string): string {
  return `@${fullName}`
}

/** The fields that are the same in a package and in each of its versions. */
function toAbout(skill: SkillDetails, registry: string) {
  const { description, license, keywords, author, repository } = skill
  const maintainer = { name: author.username, email: '' }
  return {
    description,
    ...(license !== '' && { license }),
    keywords,
    author: maintainer,
    maintainers: [maintainer],
    homepage: `${registry.slice(0, -'/npm'.length)}/${skill.fullName}`,
    ...(repository !== '' && { repository: { type: 'git', url: repository } }),
    ...(skill.deprecated && { deprecated: skill.deprecationMessage || 'This skill is deprecated.' }),
  }
}

/** The manifest of one version, yanked or not. */
export function toNpmManifest(
  fullName: string,
  skill: SkillDetails,
  { version, facts, yanked }: DescribedVersion & { readonly yanked?: boolean },
  registry: string,
): Manifest {
  const name = toPackageName(fullName)
  const [sha512, sha1] = facts?.hashes ?? []
  return {
    _id: `${name}@${version}`,
    name,
    version,
    ...toAbout(skill, registry),
    ...(yanked && { deprecated: 'This version was yanked: it stays for lock files that name it.' }),
    // With these values, npm neither looks for dependencies nor compiles anything.
    _hasShrinkwrap: false,
    gypfile: false,
    dist: {
      tarball: `${registry}/${name}/-/${toShortName(fullName)}-${version}.tgz`,
      ...(sha512 && { integrity: `sha512-${sha512.toString('base64')}` }),
      ...(sha1 && { shasum: sha1.toString('hex') }),
    },
  }
}
