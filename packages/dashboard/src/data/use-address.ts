import { useLocation } from 'preact-iso'

type Fields = Record<string, string | undefined>

/**
 * The query fields of the address, and a function to change some of them, so that every state of a page can be linked
 * and is in the history.
 */
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
