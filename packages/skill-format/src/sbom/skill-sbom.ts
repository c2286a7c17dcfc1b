import { hash } from 'node:crypto'
import { ComponentScope, ComponentType, HashAlgorithm } from '@cyclonedx/cyclonedx-library/Enums'
import { Factories } from '@cyclonedx/cyclonedx-library/Contrib/License'
import { Bom, Component, ComponentRepository, Property } from '@cyclonedx/cyclonedx-library/Models'
import { JSON as Json, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize'
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec'
import {
  type Access,
  accessKinds,
  type ManifestFile,
  type PublisherIdentity,
  type Requires,
  type Security,
} from '@skillstead/protocol'
import { PackageURL } from 'packageurl-js'
import parseExpression from 'spdx-expression-parse'
import type { DeclaredPackage, DeclaredPackages, PackageScope } from './found-packages.ts'

/** The media type of a bill of materials. */
export const sbomType = 'application/vnd.cyclonedx+json; version=1.6'

/** A skill of a bill of materials. Fields that are not known are left out. */
export interface SkillBill {
  /** The full name, or the short name of a skill that is not published. */
  readonly name: string
  readonly version?: string | undefined
  readonly description?: string | undefined
  readonly license?: string | undefined
  readonly publisher?: string
  /** The identity of CI that published the version. */
  readonly identity?: PublisherIdentity | undefined
  /** The digest of the version. */
  readonly digest: string
  readonly files: readonly ManifestFile[]
  readonly declared: DeclaredPackages
  readonly security?: Pick<Security, 'verdict' | 'score' | 'rulesVersion'> | null
  readonly access?: Access | null
  readonly capabilities?: readonly string[]
  /** The versions from which the skill was forked, nearest first. */
  readonly forkChain?: readonly { readonly fullName: string; readonly version: string; readonly digest: string }[]
  readonly yanked?: boolean
  /** The reason of the recall of the version. */
  readonly recalled?: string | undefined
  /** What the skill requires. In a project, the required skills have full names. */
  readonly requires?: Requires
  /** The URL of the registry that the skill was installed from. */
  readonly source?: string | undefined
}

/** A skill of a project whose content is not known, with the reason as a sentence. */
export interface UnreadSkill extends Pick<SkillBill, 'name' | 'version' | 'digest'> {
  readonly reason: string
}

/**
 * Writes the bill of materials of one version, in CycloneDX 1.6. `publishedAt`: in milliseconds since 1970. Equal inputs
 * give equal texts.
 */
export function writeSkillSbom(bill: SkillBill, publishedAt?: number): string {
  const skill = toSkillComponent(bill)
  const packages = new Packages()
  packages.add(bill, skill)
  const required = new Map<string, Component>()
  linkRequired(bill, skill, required)
  return write(skill, [...toFileComponents(bill, skill), ...required.values(), ...packages.list()], publishedAt)
}

/** As {@link writeSkillSbom}, for the skills of a project. */
export function writeProjectSbom(bills: readonly (SkillBill | UnreadSkill)[]): string {
  const project = new Component(ComponentType.Application, 'skills.lock', { bomRef: 'skills.lock' })
  const packages = new Packages()
  const skills = new Map(bills.map((bill) => [bill.name, toSkillComponent(bill)]))
  for (const bill of bills) {
    const skill = skills.get(bill.name)!
    if ('files' in bill) {
      for (const file of toFileComponents(bill, skill)) skill.components.add(file)
      packages.add(bill, skill)
      linkRequired(bill, skill, skills)
    }
    project.dependencies.add(skill.bomRef)
  }
  return write(project, [...skills.values(), ...packages.list()])
}

function write(subject: Component, components: readonly Component[], publishedAt?: number): string {
  const bom = new Bom({ components: new ComponentRepository(components) })
  bom.metadata.component = subject
  bom.metadata.tools.components.add(new Component(ComponentType.Application, 'skillstead'))
  if (publishedAt !== undefined) bom.metadata.timestamp = new Date(publishedAt)
  const serializer = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6))
  // The number is a hash of the document, so that it changes with the document, for example with the verdict of a scan.
  bom.serialNumber = `urn:uuid:${toUuid(serializer.serialize(bom))}`
  return `${serializer.serialize(bom, { space: 2 })}\n`
}

/** A UUID of the vendor's own kind (RFC 9562, version 8) from the hash of a text. */
function toUuid(text: string): string {
  const hex = hash('sha256', text)
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

/** Links a skill with the skills that it requires, and adds required skills that `known`, by name, lacks. */
function linkRequired({ requires }: SkillBill, skill: Component, known: Map<string, Component>): void {
  for (const { name, range, optional } of requires?.skills ?? []) {
    const required = known.get(name) ?? toRequiredComponent(name, optional)
    known.set(name, required)
    skill.dependencies.add(required.bomRef)
    required.properties.add(property('required', `${skill.bomRef.value} ${range}`))
  }
}

/** The component of a required skill, whose version is not decided. */
function toRequiredComponent(name: string, optional = false): Component {
  const [short = name, group] = name.split('/').toReversed()
  const purl = new PackageURL('generic', group, short).toString()
  const scope = optional ? ComponentScope.Optional : ComponentScope.Required
  return new Component(ComponentType.Application, short, { bomRef: `required:${name}`, purl, group, scope })
}

function toSkillComponent(bill: SkillBill | UnreadSkill): Component {
  const { name, version } = bill
  const [short = name, group] = name.split('/').toReversed()
  const purl = new PackageURL('generic', group, short, version).toString()
  const component = new Component(ComponentType.Application, short, { bomRef: purl, purl, group, version })
  if ('files' in bill) {
    const { description, publisher, license = '' } = bill
    Object.assign(component, { description, publisher })
    if (license !== '') component.licenses.add(new Factories.LicenseFactory(parseExpression).makeFromString(license))
  }
  for (const [key, value] of listFacts(bill)) component.properties.add(property(key, value))
  return component
}

function* listFacts(skill: SkillBill | UnreadSkill): Generator<[key: string, value: string]> {
  yield ['digest', skill.digest]
  if ('reason' in skill) return yield ['not-read', skill.reason]
  const { identity, security, access, yanked, recalled, declared, requires, source } = skill
  const { capabilities = [], forkChain = [] } = skill
  if (source !== undefined) yield ['source', source]
  yield ['verdict', security?.verdict ?? 'not scanned']
  if (security) {
    yield ['score', `${security.score}`]
    yield ['rules-version', security.rulesVersion]
  }
  if (yanked) yield ['yanked', 'true']
  if (recalled !== undefined) yield ['recalled', recalled]
  if (identity) {
    yield ['publisher:issuer', identity.issuer]
    for (const [claim, value] of Object.entries(identity.claims)) yield [`publisher:claim:${claim}`, value]
  }
  for (const fork of forkChain) yield ['forked-from', `${fork.fullName}@${fork.version} ${fork.digest}`]
  for (const capability of capabilities) yield ['capability', capability]
  for (const command of requires?.commands ?? []) yield ['requires:command', command]
  for (const server of requires?.mcpServers ?? []) yield ['requires:mcp-server', server]
  for (const variable of requires?.env ?? []) yield ['requires:env', variable]
  for (const kind of access ? accessKinds : []) for (const item of access![kind]) yield [`access:${kind}`, item]
  for (const sentence of access?.cut ?? []) yield ['not-read', sentence]
  for (const { path, reason } of declared.unread) yield ['not-read', path === '' ? reason : `${path}: ${reason}`]
}

function toFileComponents({ files }: SkillBill, skill: Component): Component[] {
  return files.map(({ path, digest, executable }) => {
    const file = new Component(ComponentType.File, path, { bomRef: toFileRef(skill, path) })
    file.hashes.set(HashAlgorithm['SHA-256'], digest.slice('sha256:'.length))
    if (executable) file.properties.add(property('executable', 'true'))
    return file
  })
}

/** The declared packages of all skills of a document, each once. */
class Packages {
  readonly #byRef = new Map<string, Component>()

  /** Adds the packages of a skill, on which its component then depends. */
  add({ declared }: SkillBill, skill: Component): void {
    for (const declaration of declared.packages) skill.dependencies.add(this.#add(declaration, skill).bomRef)
  }

  list(): Iterable<Component> {
    return this.#byRef.values()
  }

  #add({ range, scope, path, ...declared }: DeclaredPackage, skill: Component): Component {
    const purl = declared.isRegistered ? toPurl(declared) : undefined
    const ref = purl ?? `${declared.ecosystem}:${declared.name} ${range}`
    let component = this.#byRef.get(ref)
    if (!component) {
      const { version } = declared
      const [group, name] = splitName(declared)
      component = new Component(ComponentType.Library, name, {
        bomRef: ref,
        purl,
        group,
        version,
        scope: scopes[scope],
      })
      this.#byRef.set(ref, component)
    }
    // A package that any file requires is required, even if other files declare it as optional.
    if (scopeOrder.indexOf(scopes[scope]) < scopeOrder.indexOf(component.scope!)) component.scope = scopes[scope]
    component.properties.add(property('declared', `${toFileRef(skill, path)} ${range || 'any version'}`))
    return component
  }
}

const scopes: Readonly<Record<PackageScope, ComponentScope>> = {
  required: ComponentScope.Required,
  optional: ComponentScope.Optional,
  excluded: ComponentScope.Excluded,
}
const scopeOrder = Object.values(scopes)

/** The address of a package in its registry; undefined for a name or registry that package URLs do not have. */
function toPurl(declared: Pick<DeclaredPackage, 'ecosystem' | 'name' | 'version'>): string | undefined {
  if (declared.ecosystem === 'jsr') return undefined
  try {
    return new PackageURL(declared.ecosystem, ...splitName(declared), declared.version).toString()
  } catch {
    return undefined
  }
}

/** The namespace and the name: npm has scopes, and the modules of Go have the path of their repository. */
function splitName({ ecosystem, name }: Pick<DeclaredPackage, 'ecosystem' | 'name'>): [string | undefined, string] {
  const slash = ecosystem === 'pypi' || ecosystem === 'cargo' ? -1 : name.lastIndexOf('/')
  return slash === -1 ? [undefined, name] : [name.slice(0, slash), name.slice(slash + 1)]
}

function toFileRef({ bomRef }: Component, path: string): string {
  return `${bomRef.value}#${path}`
}

function property(name: string, value: string): Property {
  return new Property(`skillstead:${name}`, value)
}
