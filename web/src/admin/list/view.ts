/** What a list shows: search, filters and order, by the names that the API gives them. They are the query of the address, too. */
export type View = Readonly<Partial<Record<string, string>>>

/** What may be in the address of a list, by name: the values there are, or how long any text may be. */
export type ViewSpec = Readonly<Record<string, readonly string[] | number>>

/** Reads the query of an address; what no list understands is left out, so that an old or mistyped address still shows something. */
export function readView(query: URLSearchParams, spec: ViewSpec): View {
  const pairs = Object.entries(spec).map(([name, allowed]) => [name, known(query.get(name)?.trim(), allowed)] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

function known(value: string | undefined, allowed: readonly string[] | number): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof allowed === 'number') return value.slice(0, allowed)
  return allowed.includes(value) ? value : undefined
}

/** The address of a list as this view shows it; the same view always has the same address. */
export function addressOf(path: string, view: View): string {
  const given = Object.entries(view).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '')
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.toSorted(([a], [b]) => (a < b ? -1 : 1)))}`
}

/** A view without its order: what decides which rows there are. */
export function filterOf(view: View): View {
  return Object.fromEntries(Object.entries(view).filter(([name]) => name !== 'sort'))
}

export const isFiltered = (view: View) => Object.values(filterOf(view)).some((value) => value !== undefined)

/** The order as the API writes it: a minus in front turns it round. */
export function toSort(column: string, isDescending: boolean): string {
  return isDescending ? `-${column}` : column
}

export function fromSort(sort: string): { readonly id: string; readonly desc: boolean } {
  return sort.startsWith('-') ? { id: sort.slice(1), desc: true } : { id: sort, desc: false }
}
