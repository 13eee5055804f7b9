/** What an import of an asset gives: its address. */
declare module '*.svg' {
  const address: string;
  export default address;
}
declare module '*.css';
