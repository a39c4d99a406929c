/** Path of a question to the engine about an image. */
export const imagePath = (image: string, verb: 'json' | 'tag') =>
  `/images/${image.split('/').map(encodeURIComponent).join('/')}/${verb}`
