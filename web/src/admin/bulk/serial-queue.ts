/** Runs one task at a time, first in first out. Tasks must not reject. */
export function createSerialQueue(): (work: () => Promise<void>) => void {
  let last = Promise.resolve()
  return (work) => void (last = last.then(work))
}
