import { RegistryError, type Content } from '@skillstead/protocol'

/** The error that a call is refused with; fails where it is not refused, or by anything but a RegistryError. */
export async function refusalOf(call: Promise<unknown>): Promise<RegistryError> {
  try {
    await call
  } catch (error) {
    if (error instanceof RegistryError) return error
    throw error
  }
  throw new Error('The call was expected to be refused, and was not.')
}

/** The code that a call is refused with. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  return (await refusalOf(call)).code
}

/** The paths of the fields at fault. */
export async function fieldsOf(call: Promise<unknown>): Promise<string[]> {
  return (await refusalOf(call)).errors.map(({ path }) => path)
}

export async function bytesOf({ body }: Content): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function textOf(content: Content): Promise<string> {
  return (await bytesOf(content)).toString()
}

/** A small SKILL.md. */
export function skillMd(name: string, options: { description?: string; version?: string; body?: string } = {}): string {
  const { description = `What ${name} does.`, version, body = `# ${name}\n\nSteps to follow.\n` } = options
  const metadata = version === undefined ? '' : `metadata:\n  version: "${version}"\n`
  return `---\nname: ${name}\ndescription: ${description}\n${metadata}---\n\n${body}`
}
