/** Does one thing at a time: what is begun meanwhile waits, and none is forgotten. Nothing that it is given may reject. */
export function createSerialQueue(): (work: () => Promise<void>) => void {
  let last = Promise.resolve()
  return (work) => void (last = last.then(work))
}
