/**
 * Which of the messages that are shown a new one takes the place of: those about a row that the new one is about, too.
 * Two messages about one row contradict each other ("blocked", "unblocked"), and the way back in the older one would undo
 * something else than it says.
 * @param shown subjects of each message, by its id
 * @returns ids of the messages to close
 */
export function superseded(shown: ReadonlyMap<string, readonly string[]>, subjects: readonly string[]): string[] {
  const news = new Set(subjects)
  return [...shown].filter(([, earlier]) => earlier.some((subject) => news.has(subject))).map(([id]) => id)
}
