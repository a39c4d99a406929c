/** Contents of homes that no program uses at the moment: who calls makes sure of that. */
export interface HomeContents {
  /**
   * A home as a tar archive, with owners, modes, times and links; the first entry is the home itself.
   * @throws {RuntimeError} `missing`; any other kind at its end when it is not complete
   */
  read(volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Unpacks a tar archive into a home that exists. What is there and is not in the archive stays.
   * @throws {RuntimeError} `missing`; any other kind, e.g. when the disk is full, or the engine takes nothing more or is
   *   being stopped: a part of the archive may be there then
   */
  add(volume: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>

  /**
   * Removes what is in a folder at the top of a home. An empty file of its name may stay: Docker can replace a folder and
   * not remove one. @throws {RuntimeError} the folder may be whole or in part there then
   */
  discard(volume: string, folder: string, signal: AbortSignal): Promise<void>
}
