/**
 * The selected rows: some, by id, or all matching rows with exceptions. The second includes rows that were never
 * loaded, so it cannot be a list.
 */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<number> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<number> }

export const noneSelected: Selection = { kind: 'some', ids: new Set() }
/** Every matching row, loaded or not. */
export const allSelected: Selection = { kind: 'all', except: new Set() }

export function isSelected(selection: Selection, id: number): boolean {
  return selection.kind === 'all' ? !selection.except.has(id) : selection.ids.has(id)
}

/** Adds rows to the selection, or removes them. */
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
 * Moves the end of a range: rows that leave the range are deselected.
 * @param ids of the rows, in order @param from the previous end @param to the new end
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
 * The number of rows that an action would include. Of selected ids only those that are loaded: after another order, or
 * a deletion, the others have no name, and the count must not include them.
 * @param total number of matching rows @param loaded ids of the loaded rows
 */
export function countOf(selection: Selection, total: number, loaded: readonly number[]): number {
  if (selection.kind === 'all') return Math.max(0, total - selection.except.size)
  return loaded.filter((id) => selection.ids.has(id)).length
}
