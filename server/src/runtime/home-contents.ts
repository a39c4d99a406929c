/** Contents of homes that no program uses at the moment: who calls makes sure of that. */
export interface HomeContents {
  /**
   * A home as a tar archive, with owners, modes, times and links.
   * @throws {RuntimeError} `missing`; `failed` at its end when it is not complete
   */
  read(volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Unpacks a tar archive into a home that exists. What is there and is not in the archive stays.
   * @throws {RuntimeError} `missing`; `failed`, e.g. when the disk is full: a part of the archive may be there then
   */
  add(volume: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
}
