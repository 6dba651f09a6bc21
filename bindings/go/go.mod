module rowbloom.invalid/rowbloom

go 1.19
