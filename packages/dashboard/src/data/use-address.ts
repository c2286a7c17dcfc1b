import { useLocation } from 'preact-iso'

type Fields = Record<string, string | undefined>

/** The fields of the address, and a way to change some of them: what a page shows can be linked to and gone back to. */
export function useAddress(): { fields: Record<string, string>; change(some: Fields, replace?: boolean): void } {
  const { path, query, route } = useLocation()
  return {
    fields: query,
    change(some, replace = false) {
      route(toAddress(path, { ...query, ...some }), replace)
    },
  }
}

/** An address of this node; fields without a value are left out. */
export function toAddress(path: string, fields: Fields = {}): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
