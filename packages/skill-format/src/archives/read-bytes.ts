import type { Content } from '@skillstead/protocol'

/** Reads all bytes of a content. */
export async function readBytes({ body }: Content): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
