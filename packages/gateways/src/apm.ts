import { isSkillName, isUsername, isVersion, RegistryError, toShortName } from '@skillstead/protocol'
import { toFoldedPath, writeZip, type ArchiveFile } from '@skillstead/skill-format/archives'
import {
  readSkillList,
  toListAnswer,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Params,
} from './gateway.ts'
import { apiOf, createSkillArchives, type Pack, type SkillArchives } from './scopes/skill-archives.ts'

const packagePath = '/apm/v1/packages/:owner/:repo/versions'

/**
 * The registry protocol of microsoft/apm, version 1, read-only. Errors are problem documents, as in the API of the
 * node.
 */
export function apm(host: GatewayHost): GatewayRoute[] {
  const archives = createSkillArchives(host, {
    contentType: 'application/zip',
    extension: 'zip',
    hashes: ['SHA-256'],
    write: writePackage,
  })
  const common = {
    admission: 'keyed-files',
    scheme: 'basic',
    reads: (params: Params) => ({ skill: toApmSkill(params) }),
  } as const
  const reading = { ...common, methods: ['GET', 'HEAD'] }
  return [
    {
      ...reading,
      pattern: packagePath,
      endpoint: 'apmVersions',
      answer: (call, params) => answerVersions(host, archives, call, toApmSkill(params)),
    },
    {
      ...reading,
      pattern: `${packagePath}/:version/download`,
      endpoint: 'apmDownload',
      answer(call, params) {
        const { version = '' } = params
        if (!isVersion(version)) throw new RegistryError('not_found', 'Versions have the form 1.2.3.')
        return archives.answer(call, toApmSkill(params), version)
      },
    },
    { ...common, methods: ['PUT'], pattern: `${packagePath}/:version`, endpoint: 'apmPublish', answer: refusePublish },
  ]
}

function toApmSkill({ owner = '', repo = '' }: Params): string {
  if (isUsername(owner) && isSkillName(repo)) return `${owner}/${repo}`
  throw new RegistryError('not_found', 'Skills are packages with the name `OWNER/SKILL`.')
}

/** Answers with the versions whose digest is known: clients refuse a whole list for one version without a digest. */
async function answerVersions(
  host: GatewayHost,
  archives: SkillArchives,
  call: GatewayCall,
  fullName: string,
): Promise<Answer> {
  const list = await readSkillList(host, call, ['apm', fullName], async () => {
    return { value: await readPackageVersions(host, archives, call, fullName) }
  })
  return toListAnswer(host, call, list, await host.freshness({ name: fullName }))
}

async function readPackageVersions(host: GatewayHost, archives: SkillArchives, call: GatewayCall, fullName: string) {
  const skill = await apiOf(host, call, { counts: false }).getSkill({ name: fullName })
  const described = await archives.describe(call, fullName, skill)
  const versions = described.flatMap(({ version, publishedAt, facts }) => {
    if (!facts) return []
    const digest = `sha256:${facts.hashes[0]!.toString('hex')}`
    return [{ version, digest, published_at: publishedAt, size_bytes: facts.bytes }]
  })
  return { package: fullName, versions }
}

function refusePublish(): never {
  throw new RegistryError('not_implemented', 'Packages here are read-only. Publish with `skillstead publish`.')
}

/**
 * Writes the files of a version with a generated `apm.yml`, which replaces an `apm.yml` of the skill: the dependencies
 * and scripts of that file must not take effect.
 */
function writePackage({ fullName, version }: Pack, files: readonly ArchiveFile[]): Uint8Array<ArrayBuffer> {
  const name = toShortName(fullName)
  // Quoted, because a name may consist of digits or be a word such as `null`.
  const manifest = `name: "${name}"\nversion: "${version}"\n`
  const kept = files.filter(({ path }) => toFoldedPath(path.split('/')[0]!) !== 'apm.yml')
  return writeZip([{ path: 'apm.yml', bytes: Buffer.from(manifest) }, ...kept])
}
