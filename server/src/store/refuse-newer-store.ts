/** The store was written by a newer version of Berth. The message is for the operator. */
export class NewerStore extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NewerStore'
  }
}

/**
 * A program that does not know a migration cannot know what the store means since.
 * @param applied names of the migrations of the store
 * @param known names of those of this program
 * @throws {NewerStore} with what to do
 */
export function refuseNewerStore(applied: readonly string[], known: readonly string[]): void {
  const unknown = applied.filter((name) => !known.includes(name)).sort()
  if (unknown.length === 0) return
  throw new NewerStore(
    `a newer version of Berth changed the store (${unknown.join(', ')}; this version knows them up to ${known.at(-1)}). ` +
      'Start the newer version again; or go back to the copy that it made before, which its log names, or to a backup: docs/how-to/upgrade.md',
  )
}
