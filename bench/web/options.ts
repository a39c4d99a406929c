/** Options of `npm run bench:web`, such as `-- --rounds=1 --people=1000`. */
/** Value of `--name=`. */
export const option = (name: string, fallback: number) =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
export const rounds = option('rounds', 5)
export const people = option('people', 100_000)
export const rowsToScroll = Math.min(10_000, people)
