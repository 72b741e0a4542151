// The page.
export const App: React.FC<Props> = ({ title }) => { return <Main title={title} />; };
