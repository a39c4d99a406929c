/**
 * The test files that a run takes: those whose path contains one of the words; without a word all, of which `npm test` leaves
 * out those that say `Part of npm run test:long:` and why.
 * @param {string[]} files
 * @param {{ words: string[], isLong: boolean, says: (file: string, words: string) => boolean }} run
 * @returns {string[]}
 */
export function chooseFiles(files, { words, isLong, says }) {
  if (words.length > 0) return files.filter((file) => words.some((word) => file.includes(word)))
  return isLong ? files : files.filter((file) => !says(file, 'Part of npm run test:long:'))
}
