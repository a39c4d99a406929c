/** The text of `--name=text` on the command line; undefined without it. */
export const textOption = (name: string): string | undefined =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1]

/** The number of `--name=7` on the command line. */
export const numberOption = (name: string, fallback: number): number => Number(textOption(name) ?? fallback)
