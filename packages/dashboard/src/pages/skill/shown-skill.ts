import type { Content, SkillDetails } from '@skillstead/protocol'
import { addresses, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'

/** The skill of the page, in the version that is shown. */
export interface ShownSkill {
  readonly skill: SkillDetails
  readonly name: string
  /** Empty if no version can be shown: for a stub, or if all versions are yanked. */
  readonly version: string
  /** The version in the address, which links preserve. */
  readonly asked: string | undefined
}

/** The short name of the skill, which is also the name of its folder. */
export const toShortName = ({ fullName }: Pick<SkillDetails, 'fullName'>): string =>
  fullName.slice(fullName.indexOf('/') + 1)

/** The address of a tab of the page, for the same version. */
export const toTab = ({ name, asked }: ShownSkill, tab: string, fields: Record<string, string | undefined> = {}) =>
  toAddress(addresses.skill(name, tab), { version: asked, ...fields })

/** The downloads of the last 30 days, by version or, for owners, by client. */
export const useDownloads = (name: string, by: 'version' | 'client') =>
  useData(['skill', name, 'downloads', by], async () => {
    const { groups = [], ...rest } = await api.getDownloads({ name, days: 30, by })
    return { ...rest, groups }
  })

/** The API address of a version's archive, or of one of its files. */
export const toApiAddress = ({ name, version }: ShownSkill, path: string): string =>
  toAddress(`/api/v1/skills/${encodeURIComponent(name)}/${path}`, { version })

/** The API address of a version's bill of materials. */
export const toSbomAddress = ({ name, version }: ShownSkill): string =>
  `/api/v1/skills/${encodeURIComponent(name)}/versions/${version}/sbom`

export const toFileAddress = (shown: ShownSkill, path: string): string =>
  toApiAddress(shown, `files/${path.split('/').map(encodeURIComponent).join('/')}`)

export function toContentBytes({ body }: Content): Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new TypeError('The API client returned an unexpected type; bytes were expected.')
}

/** Decodes text; null for binary data, which contains a NUL or is not UTF-8. */
export function decodeShownText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Whether a file is a picture that browsers show. A picture runs no code, an SVG included. */
export const isPicture = (path: string): boolean => /\.(?:png|jpe?g|gif|webp|avif|svg)$/i.test(path)
