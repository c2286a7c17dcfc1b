import * as v from 'valibot'

type Schema = v.GenericSchema
type Variants = v.VariantOptions<string>

/** The same schema with every object closed: a field that the endpoint table does not declare is an error. */
export function toStrictSchema(schema: Schema): Schema {
  const parts = schema as unknown as {
    type: string
    entries?: Record<string, Schema>
    item?: Schema
    wrapped?: Schema
    options?: Schema[]
    key?: string
    default?: unknown
    pipe?: unknown[]
  }
  // In a pipe the first item is the schema, and no check of ours looks into an object.
  if (parts.pipe && parts.type === 'object') throw new TypeError('An object of an output stands in a pipe.')
  switch (parts.type) {
    case 'object':
    case 'strict_object':
      return v.strictObject(mapEntries(parts.entries!))
    case 'array':
      return parts.pipe ? schema : v.array(toStrictSchema(parts.item!))
    case 'nullable':
      return v.nullable(toStrictSchema(parts.wrapped!))
    case 'optional':
      return v.optional(toStrictSchema(parts.wrapped!))
    case 'variant':
      return v.variant(parts.key!, parts.options!.map(toStrictSchema) as unknown as Variants)
    case 'union':
      return parts.pipe ? schema : v.union((parts.options as unknown as Schema[]).map(toStrictSchema))
    default:
      return schema
  }
}

function mapEntries(entries: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, toStrictSchema(schema)]))
}
