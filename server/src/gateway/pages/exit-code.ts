const meanings: Readonly<Record<number, string>> = {
  0: 'It came to its end by itself, without an error',
  126: 'Its command was found but could not be run',
  127: 'Its command was not found in the image',
  130: 'It was interrupted',
  132: 'It crashed: this processor does not know one of its instructions',
  134: 'It gave up because of an error inside it',
  136: 'It crashed in a calculation',
  137: 'It was killed, most often because memory ran out',
  139: 'It crashed: it reached for memory that is not its own',
  143: 'It was asked to end',
}

/** Above 128 a shell, and the engine, report 128 and the number of the signal that ended a program. */
const [firstSignal, lastSignal] = [129, 192]

/** What a program's exit code says, as a sentence with the number for those who look it up. */
export function exitCodeInWords(code: number): string {
  return `${meanings[code] ?? unlisted(code)} (exit code ${code}).`
}

const unlisted = (code: number) =>
  code >= firstSignal && code <= lastSignal
    ? `It was ended by signal ${code - 128}`
    : 'It ended with an error of its own'
