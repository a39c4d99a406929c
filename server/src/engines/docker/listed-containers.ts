import type { RuntimeContainer } from '#/engines/runtime-container.ts'

/**
 * What the last full list had of each container: a list repeats the object of a container that has not changed. Otherwise
 * each list of 20,000 leaves 8 MB beside the states that are taken from an earlier one.
 */
export class ListedContainers {
  #byId: ReadonlyMap<string, RuntimeContainer> = new Map()

  /** The object of the last full list, if it has the same in all fields; otherwise this one. */
  shared(container: RuntimeContainer): RuntimeContainer {
    const known = this.#byId.get(container.id)
    return known && isSame(known, container) ? known : container
  }

  /** Notes the containers of a full list in the place of those before. */
  noteAll(containers: readonly RuntimeContainer[]): void {
    this.#byId = new Map(containers.map((container) => [container.id, container]))
  }
}

/** Deep comparison of plain data. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>]
  for (const name in left) if (!isSame(left[name], right[name])) return false
  for (const name in right) if (!(name in left)) return false
  return true
}
