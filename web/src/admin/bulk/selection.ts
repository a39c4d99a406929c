/**
 * Which rows are chosen: some, by their ids, or all that match but a few. The second reaches rows that were never loaded,
 * so it cannot be a list.
 */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<number> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<number> }

export const nothing: Selection = { kind: 'some', ids: new Set() }
/** Every row that matches, loaded or not. */
export const everything: Selection = { kind: 'all', except: new Set() }

export function isSelected(selection: Selection, id: number): boolean {
  return selection.kind === 'all' ? !selection.except.has(id) : selection.ids.has(id)
}

/** Chooses these rows as well, or does not any more. */
export function withRows(selection: Selection, ids: Iterable<number>, isOn: boolean): Selection {
  return selection.kind === 'all'
    ? { kind: 'all', except: changed(selection.except, ids, !isOn) }
    : { kind: 'some', ids: changed(selection.ids, ids, isOn) }
}

function changed(set: ReadonlySet<number>, ids: Iterable<number>, isIn: boolean): ReadonlySet<number> {
  const result = new Set(set)
  for (const id of ids) {
    if (isIn) result.add(id)
    else result.delete(id)
  }
  return result
}

/**
 * Draws a range from where it began to where it is now: what the range had before and has no more is left again.
 * @param ids of the rows, as they stand @param from where its end was @param to where it is
 */
export function withRange(
  selection: Selection,
  ids: readonly number[],
  { anchor, from, to }: { readonly anchor: number; readonly from: number; readonly to: number },
): Selection {
  const left = between(ids, anchor, from)
  return withRows(withRows(selection, left, false), between(ids, anchor, to), true)
}

const between = (ids: readonly number[], a: number, b: number) => ids.slice(Math.min(a, b), Math.max(a, b) + 1)

/**
 * How many rows something would be done to. Of some that were chosen those that are loaded: after another order, or once one
 * is deleted, the others cannot be named, and nothing may be promised of them.
 * @param total how many rows match @param loaded ids of the rows that are loaded
 */
export function countOf(selection: Selection, total: number, loaded: readonly number[]): number {
  if (selection.kind === 'all') return Math.max(0, total - selection.except.size)
  return loaded.filter((id) => selection.ids.has(id)).length
}
