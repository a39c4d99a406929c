/** What a list shows: search, filters and order, by the API's names. They are the query of the page's URL, too. */
export type View = Readonly<Partial<Record<string, string>>>

/** The query parameters of a list by name: the allowed values, or the max length of text. */
export type ViewSpec = Readonly<Record<string, readonly string[] | number>>

/** Reads a query; unknown parameters are ignored, so that an old or mistyped URL still shows a list. */
export function readView(query: URLSearchParams, spec: ViewSpec): View {
  const pairs = Object.entries(spec).map(([name, allowed]) => [name, known(query.get(name)?.trim(), allowed)] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

function known(value: string | undefined, allowed: readonly string[] | number): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof allowed === 'number') return value.slice(0, allowed)
  return allowed.includes(value) ? value : undefined
}

/** The URL of a list with this view; the same view always has the same URL. */
export function addressOf(path: string, view: View): string {
  const given = Object.entries(view).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '')
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.toSorted(([a], [b]) => (a < b ? -1 : 1)))}`
}

/** A view without its order: what determines the rows. */
export function filterOf(view: View): View {
  return Object.fromEntries(Object.entries(view).filter(([name]) => name !== 'sort'))
}

export const isFiltered = (view: View) => Object.values(filterOf(view)).some((value) => value !== undefined)

/** The order in the API's notation: a leading minus reverses it. */
export function toSort(column: string, isDescending: boolean): string {
  return isDescending ? `-${column}` : column
}

export function fromSort(sort: string): { readonly id: string; readonly desc: boolean } {
  return sort.startsWith('-') ? { id: sort.slice(1), desc: true } : { id: sort, desc: false }
}
