/**
 * What a run is for, named by `BERTH_TESTS`: `npm test` (nothing) leaves out the files that say `Part of npm run test:more:` or
 * `Part of npm run test:long:`, and why. `npm run test:more` runs those of the first kind, as CI does after `npm test`, and
 * `npm run test:long` every file.
 * @typedef {'usual' | 'more' | 'long'} Extent
 */

/**
 * The test files that a run takes: those whose path contains one of the words, whatever they say; without a word those of its
 * extent.
 * @param {string[]} files
 * @param {{ words: string[], extent: Extent, says: (file: string, words: string) => boolean }} run
 * @returns {string[]}
 */
export function chooseFiles(files, { words, extent, says }) {
  if (words.length > 0) return files.filter((file) => words.some((word) => file.includes(word)))
  const extentOf = (/** @type {string} */ file) =>
    /** @type {const} */ (['more', 'long']).find((name) => says(file, `Part of npm run test:${name}:`)) ?? 'usual'
  return extent === 'long' ? files : files.filter((file) => extentOf(file) === extent)
}

/** @param {string | undefined} name the value of `BERTH_TESTS` @returns {Extent} @throws when there is no such extent */
export function extentNamed(name = '') {
  if (name === '') return 'usual'
  if (name === 'more' || name === 'long') return name
  throw new Error(`BERTH_TESTS is "${name}"; it may be "more" or "long", or not be set.`)
}
