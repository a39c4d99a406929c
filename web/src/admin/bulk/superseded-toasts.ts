/**
 * The messages that a new message replaces: those about a row that the new one is about, too. Two messages about one
 * row contradict each other ("blocked", "unblocked"), and the older undo would no longer do what it says.
 * @param shown subjects of each message, by its id
 * @returns ids of the messages to close
 */
export function superseded(shown: ReadonlyMap<string, readonly string[]>, subjects: readonly string[]): string[] {
  const news = new Set(subjects)
  return [...shown].filter(([, earlier]) => earlier.some((subject) => news.has(subject))).map(([id]) => id)
}
