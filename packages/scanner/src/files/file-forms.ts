import { regexWith } from '../text/regex.ts'

/** A file format that is recognised by its first bytes. */
export interface Form {
  readonly name: string
  /** The first bytes, in Latin-1. */
  readonly magic: readonly string[]
  readonly kind: 'program' | 'image' | 'font' | 'archive' | 'document'
  /** File extensions of the format. Default: any except those of text files. */
  readonly endings?: RegExp
}

const zipEndings = regexWith('i')`\.(zip|jar|war|apk|aar|docx|docm|dotx|xlsx|xlsm|xltx
  |pptx|pptm|potx|odt|ods|odp|epub|whl|egg|crx|xpi|vsix|nupkg|skill|mcpb|dxt|kmz|3mf|sketch|fig|key|pages|numbers|
  ipa|cbz|npz|pt|pth|keras|mwb|pyz)$`

/** The formats that are recognised. */
export const forms: readonly Form[] = [
  {
    name: 'elf',
    kind: 'program',
    magic: ['\x7fELF'],
    endings: /(?:^|\/)[^.]+$|\.(?:so[\d.]*|elf|bin|o|node|out|run)$/i,
  },
  { name: 'pe', kind: 'program', magic: ['MZ'], endings: /\.(?:exe|dll|sys|scr|com|pyd|node|ocx|efi|msi|cpl)$/i },
  {
    name: 'mach-o',
    kind: 'program',
    magic: ['\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'],
    endings: /(?:^|\/)[^.]+$|\.(?:dylib|so|bundle|node|o|class)$/i,
  },
  { name: 'zip', kind: 'archive', magic: ['PK\x03\x04', 'PK\x05\x06'], endings: zipEndings },
  { name: 'gzip', kind: 'archive', magic: ['\x1f\x8b\x08'], endings: /\.(?:t?gz|gzip|svgz|emz|nii)$/i },
  { name: '7z', kind: 'archive', magic: ['7z\xbc\xaf\x27\x1c'], endings: /\.7z$/i },
  { name: 'rar', kind: 'archive', magic: ['Rar!\x1a\x07'], endings: /\.(?:rar|cbr)$/i },
  { name: 'xz', kind: 'archive', magic: ['\xfd7zXZ\0'], endings: /\.t?xz$/i },
  { name: 'bzip2', kind: 'archive', magic: ['BZh91AY&SY'], endings: /\.(?:t?bz2?|tbz2)$/i },
  { name: 'zstd', kind: 'archive', magic: ['\x28\xb5\x2f\xfd'], endings: /\.t?zst$/i },
  { name: 'cab', kind: 'archive', magic: ['MSCF\0\0\0\0'], endings: /\.cab$/i },
  { name: 'ar', kind: 'archive', magic: ['!<arch>\n'], endings: /\.(?:a|deb|lib|ar)$/i },
  { name: 'png', kind: 'image', magic: ['\x89PNG\r\n\x1a\n'] },
  { name: 'jpeg', kind: 'image', magic: ['\xff\xd8\xff'] },
  { name: 'gif', kind: 'image', magic: ['GIF87a', 'GIF89a'] },
  { name: 'woff', kind: 'font', magic: ['wOFF', 'wOF2'] },
  { name: 'sfnt', kind: 'font', magic: ['\0\x01\0\0\0', 'OTTO\0', 'ttcf\0', 'true\0'] },
  { name: 'ico', kind: 'image', magic: ['\0\0\x01\0', '\0\0\x02\0'] },
  { name: 'pdf', kind: 'document', magic: ['%PDF-'], endings: /\.(?:pdf|ai)$/i },
  {
    name: 'ole',
    kind: 'document',
    magic: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
    endings: /\.(?:doc|xls|ppt|msi|msg|vsd|pub|db)$/i,
  },
  { name: 'wasm', kind: 'document', magic: ['\0asm'], endings: /\.wasm$/i },
]

/** Finds the format of a file by its first bytes; undefined if it is unknown. */
export function findForm(bytes: Uint8Array): Form | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString('latin1')
  const form = forms.find(({ magic }) => magic.some((each) => head.startsWith(each)))
  if (form?.name === 'pe' && !isPortableExecutable(bytes)) return undefined
  return form ?? (/^RIFF.{4}WEBP/s.test(head) ? webp : undefined)
}

const webp: Form = { name: 'webp', kind: 'image', magic: [] }

/** Many words begin with `MZ`; a program also has the offset of its real header. */
function isPortableExecutable(bytes: Uint8Array): boolean {
  if (bytes.length < 64) return false
  const at = Buffer.from(bytes.subarray(60, 64)).readUInt32LE()
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1') === 'PE\0\0'
}

const images = ['png', 'jpeg', 'gif', 'webp', 'ico']

/** Extensions, each with the formats that a file with the extension may have. */
const promises: readonly { readonly endings: RegExp; readonly forms: readonly string[] }[] = [
  { endings: /\.(?:png|jpe?g|gif|webp)$/i, forms: images },
  { endings: /\.pdf$/i, forms: ['pdf'] },
  { endings: /\.(?:docx|xlsx|pptx|zip)$/i, forms: ['zip'] },
]

/** Extensions of files that agents, interpreters or compilers read as text. */
const textEndings = regexWith('i')`\.(md|mdx|mdc|markdown|txt|rst|adoc|html?|xml|svg|
  css|json[c5l]?|ya?ml|toml|ini|cfg|conf|env|csv|tsv|sh|bash|zsh|fish|ps1|psm1|bat|cmd|py|pyw|js|mjs|cjs|jsx|ts|mts|
  cts|tsx|rb|pl|pm|php|lua|r|jl|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|sql|awk|sed|vbs|applescript|tcl|el|gradle|
  groovy)$`
const textNames = /(?:^|\/)(?:makefile|dockerfile|containerfile|justfile|rakefile|procfile|gemfile|\.\w*rc|\.env)$/i

/** A Git LFS pointer replaces a file that was not fetched. */
const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n'
const lfsPointerBytesMax = 1024

/** Whether the extension of a file promises another format than the file has. Empty files do not count. */
export function isDisguised(path: string, form: Form | undefined, bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false
  const promise = promises.find(({ endings }) => endings.test(path))
  if (promise?.forms.includes(form?.name ?? '')) return false
  if (promise) return bytes.length > lfsPointerBytesMax || !new TextDecoder().decode(bytes).startsWith(lfsPointer)
  if (form === undefined || form.kind === 'program') return false
  if (textEndings.test(path) || textNames.test(path)) return true
  return form.endings !== undefined && /\.\w{1,5}$/.test(path) && !form.endings.test(path)
}
