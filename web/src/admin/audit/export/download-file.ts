/** Hands a file to the browser, which asks where to put it or puts it where downloads go. Works under the content security policy: a download is no navigation. */
export function downloadFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // Some browsers begin to read only after the click has been dealt with.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
