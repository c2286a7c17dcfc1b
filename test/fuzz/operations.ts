export type Schema = Readonly<Record<string, unknown>>

/** A field outside the body. */
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

/** One operation of the OpenAPI document, with the data to make requests and judge responses. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** The path below the server URL, with `{name}` for each parameter. */
  readonly path: string
  readonly auth: 'none' | 'key' | 'admin'
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  readonly uploads: readonly string[]
  /** The documented success statuses. */
  readonly statuses: readonly number[]
  /** The schema of a successful JSON response. */
  readonly output: Schema | undefined
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
}

interface RawOperation {
  readonly operationId: string
  readonly 'x-auth': Operation['auth']
  readonly parameters: readonly (Omit<Parameter, 'required'> & { readonly required?: boolean })[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

/** Returns all operations of the node's OpenAPI document, in its order. */
export function readOperations(document: unknown): Operation[] {
  return Object.entries((document as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => toOperation(path, method.toUpperCase(), raw)),
  )
}

function toOperation(path: string, method: string, raw: RawOperation): Operation {
  const { 'application/json': json, ...uploads } = raw.requestBody?.content ?? {}
  const statuses = Object.keys(raw.responses).filter((status) => /^[23]\d\d$/.test(status))
  const good = statuses.map((status) => raw.responses[status]!.content?.['application/json'])
  return {
    id: raw.operationId,
    method,
    path,
    auth: raw['x-auth'],
    parameters: raw.parameters.map((parameter) => ({ ...parameter, required: parameter.required ?? false })),
    body: json?.schema,
    uploads: Object.keys(uploads),
    statuses: statuses.map(Number),
    output: good.find((content) => content !== undefined)?.schema,
  }
}
